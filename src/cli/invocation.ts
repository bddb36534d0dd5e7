/** How the program was started, for lines that people copy: `muster`, through npx, or from its source folder. */
import type { Environment } from '../config/environment.ts'

const packageName = '@muster-data/cli'

export function invocation(env: Environment): string {
  if (env.npm_command === 'exec') return `npx ${packageName}`
  return env.npm_package_name === packageName ? 'npm run -s muster --' : 'muster'
}
