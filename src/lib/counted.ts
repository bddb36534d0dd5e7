/** How many of something, as people write it. */

const thousands = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 6 })

export function formatNumber(value: number | bigint): string {
  return thousands.format(value)
}

/** `1 row`, `1,234 rows`; `several` where an s behind the one is not enough. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : several}`
}
