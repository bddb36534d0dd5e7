/** Folder of the project, whose built program the benches run. */
export const root = new URL('../../', import.meta.url).pathname
