/** Set by the long suite: what takes many seconds, and on every engine what the quick suite shows on one. */
export const thorough = process.env.MUSTER_TEST_EVERYWHERE === '1'
