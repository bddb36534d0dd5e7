/** Seeds of a proof that runs as many as there is time for: those asked for, or the usual ones. */

/** `MUSTER_TEST_SEEDS=1-200`, or one number. Throws for anything else. */
const asked = process.env.MUSTER_TEST_SEEDS

export function seedsOf(usual: string): readonly number[] {
  const text = asked ?? usual
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? []
  const count = Number(last) - Number(first) + 1
  if (!(count > 0)) throw new Error(`MUSTER_TEST_SEEDS=${text}: write 7 or 1-200`)
  return Array.from({ length: count }, (_, n) => Number(first) + n)
}
