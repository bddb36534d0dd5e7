/** What a spreadsheet makes of a text that it takes for a number, a date or a formula. What was there before is lost. */

/** A code stands for something: an id, a reference, a telephone number. Other texts may look like a date or a word. */
export type TextKind = 'text' | 'code' | 'day'

const months = '(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)'
const asText = 'format its column as text and enter it again'

interface Damage {
  readonly looks: RegExp
  readonly of: readonly TextKind[]
  /** Goes on after the name of the field. */
  readonly why: string
}

const everyKind: readonly TextKind[] = ['text', 'code', 'day']

const damages: readonly Damage[] = [
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

/** Why the text cannot be what was meant; undefined where nothing can be seen. Zeros lost at the beginning cannot be seen. */
export function spreadsheetDamage(text: string, kind: TextKind): string | undefined {
  const plain = text.trim()
  return damages.find(({ looks, of }) => of.includes(kind) && looks.test(plain))?.why
}
