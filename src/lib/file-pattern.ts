/** Paths for the functions of DuckDB that read files: they take `*`, `?` and `[` for patterns, and would read other files too. */
export const asPattern = (path: string): string => path.replace(/[*?[]/g, '[$&]')
