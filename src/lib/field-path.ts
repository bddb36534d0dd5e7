/** The path of a value in a JSON document, as people write it. */

/** `attachments[0].files[1].content`; empty for the document itself. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((whole, step) => {
    if (typeof step === 'number') return `${whole}[${step}]`
    return whole === '' ? String(step) : `${whole}.${String(step)}`
  }, '')
}
