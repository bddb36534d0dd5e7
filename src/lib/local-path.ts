/** Paths that a user names: `s3://bucket/acme` would become the folder `s3:` of the working folder. */

const address = /^([a-z][a-z0-9+.-]*):\/\//i

/** Why the text is no path of this machine, and what to do; undefined when it is one. */
export function whyNotLocal(text: string): string | undefined {
  const scheme = address.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return undefined
  return scheme === 'file'
    ? 'write the path itself, without file://'
    : `name a path of this machine: nothing reads or writes ${scheme}:// here; copy what was written there afterwards`
}
