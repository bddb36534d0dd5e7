/** Detects texts that a spreadsheet has converted to a number, a date or a formula, which loses the original. */

/** A code is an id, a reference or a telephone number. Other texts may look like a date or a word. */
export type TextKind = 'text' | 'code' | 'day'

const months = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)'
const asText = 'format its column as text and enter it again'

interface SpreadsheetDamage {
  readonly looks: RegExp
  readonly of: readonly TextKind[]
  /** Continues a sentence that begins with the name of the field. */
  readonly why: string
}

const everyKind: readonly TextKind[] = ['text', 'code', 'day']

const damages: readonly SpreadsheetDamage[] = [
  {
    looks:
      /^#(ref!|n\/a|name\?|value!|div\/0!|null!|num!|spill!|calc!|field!|getting_data|err(or)?[!:]?\d*)$/i,
    of: everyKind,
    why: 'is an error of a spreadsheet, such as #REF!: correct the cell and save the file again',
  },
  {
    looks: /^#{2,}$/,
    of: everyKind,
    why: 'is ####, which a spreadsheet shows for a column that is too narrow: widen it and save the file again',
  },
  { looks: /^=/, of: everyKind, why: 'is a formula: save its value instead' },
  {
    looks: /^[+-]?\d+([.,]\d+)?e[+-]\d+$/i,
    of: everyKind,
    why: `is a number such as 4.4E+10, as a spreadsheet shortens long ones: ${asText}`,
  },
  {
    looks: /^[+-]?\d{5,}[.,]0+$|^\d{1,3}([.,]\d{3}){2,}$/,
    of: ['code'],
    why: `has the decimals or separators of a number: ${asText}`,
  },
  {
    looks: new RegExp(`^(\\d{1,2}-${months}(-\\d{2,4})?|${months}-\\d{2,4})$`, 'i'),
    of: ['code'],
    why: `is a date such as 1-Mar, which a spreadsheet makes of a text: ${asText}`,
  },
  {
    looks: /^(TRUE|FALSE)$/,
    of: ['code'],
    why: `is TRUE or FALSE, which a spreadsheet makes of a text: ${asText}`,
  },
  {
    looks: /^\d{1,6}([.,]\d+)?$/,
    of: ['day'],
    why: 'is the number by which a spreadsheet counts days: write it as YYYY-MM-DD',
  },
]

/** Says why the text was converted; undefined if there is no sign of it. Lost leading zeros leave no sign. */
export function spreadsheetDamage(text: string, kind: TextKind): string | undefined {
  const plain = text.trim()
  return damages.find(({ looks, of }) => of.includes(kind) && looks.test(plain))?.why
}
