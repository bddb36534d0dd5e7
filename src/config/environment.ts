/** The one door to the environment of the process; everything else is handed what it needs. */

/** Names and values of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

export function readEnvironment(): Environment {
  return { ...process.env }
}

/** The value of a variable; one that is set to nothing counts as not set, as schedulers write `NAME=`. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] || undefined
}
