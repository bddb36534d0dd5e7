/** Statements under way, on whatever engine, so that a process that is told to stop does not wait for their end. */

const underWay = new Set<() => void>()

/** `interrupt` makes the statement of `work` fail soon. */
export async function interruptible<Result>(
  interrupt: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  // A set holds the same function once.
  const one = (): void => interrupt()
  underWay.add(one)
  try {
    return await work()
  } finally {
    underWay.delete(one)
  }
}

/** Those that begin later run, so that what failed can be tidied up. */
export function interruptAll(): void {
  for (const interrupt of underWay) interrupt()
}
