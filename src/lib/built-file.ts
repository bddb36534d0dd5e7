/** Files of the built program: a process of its own runs JavaScript, even when this one runs the sources. */
import { fileURLToPath } from 'node:url'

/** `path` is below `dist`, which is at the same distance from `src/lib` and from `dist/lib`. */
export const builtFile = (path: string): string =>
  fileURLToPath(new URL(`../../dist/${path}`, import.meta.url))
