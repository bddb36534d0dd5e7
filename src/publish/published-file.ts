/** Where the published copy of a DuckDB warehouse lies. */

/** `acme.duckdb` is published as `acme.published.duckdb` beside it. */
export const publishedFile = (file: string): string => `${file.replace(/\.duckdb$/, '')}.published.duckdb`

export const isPublishedFile = (file: string): boolean => file.endsWith('.published.duckdb')
