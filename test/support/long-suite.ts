/** Set by the long suite: what takes many seconds, and on every engine what the quick suite shows on one. */
export const thorough = process.env.MUSTER_TEST_EVERYWHERE === '1'

/** All cases in the long suite, and in the quick one those at these places. */
export const inQuick = <Case>(cases: readonly Case[], ...places: readonly number[]): Case[] =>
  cases.filter((_, index) => thorough || places.includes(index))
