/** Counts in text. */

const thousands = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 })

export function formatNumber(value: number | bigint): string {
  return thousands.format(value)
}

/** `1 row`, `1,234 rows`; `several` is the plural where it is not `one` with an s. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : several}`
}
