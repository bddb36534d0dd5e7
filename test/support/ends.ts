/**
 * What is done at the end of every test file or test, whichever of them used it. Files share what they import, so that a
 * module beside them runs once: a hook that it gave to Vitest would be one of the first file that imports it only.
 */
type Work = () => Promise<unknown> | unknown

const ofFiles = new Set<Work>()
const ofTests = new Set<Work>()

export const atEndOfFile = (work: Work): unknown => ofFiles.add(work)
export const atEndOfTest = (work: Work): unknown => ofTests.add(work)

export const endFile = (): Promise<void> => doAll(ofFiles)
export const endTest = (): Promise<void> => doAll(ofTests)

async function doAll(works: ReadonlySet<Work>): Promise<void> {
  for (const work of works) await work()
}
