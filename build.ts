/** `npm run build`: bundles the program, unless what is there was made of the same. */
import { isBuilt } from './built-from.ts'

// Imported only then: to load the bundler takes longer than to look.
if (!isBuilt('.')) await import('./bundle.ts')
