/** What should have stood at a place, in the words of the quarantine. */
import type { ColumnType } from '../../contract/fields/column.ts'
import type { Form } from './forms.ts'

export const expected: Readonly<Record<ColumnType | Form['kind'], string>> = {
  object: 'an object',
  list: 'a list',
  id: 'an id',
  text: 'a text',
  url: 'an address',
  integer: 'a whole number',
  number: 'a number',
  money: 'an amount',
  quantity: 'a number',
  coordinate: 'a number',
  boolean: 'true or false',
  timestamp: 'a date and time',
  day: 'a day',
  dayMonthYear: 'a day as DD/MM/YYYY',
  json: 'JSON',
}
