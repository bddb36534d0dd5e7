/** The only reader of the environment of the process; other code gets its values passed in. */

/** Names and values of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

export function readEnvironment(): Environment {
  return { ...process.env }
}

/** The value of a variable. An empty one counts as not set, because schedulers write `NAME=`. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] || undefined
}
