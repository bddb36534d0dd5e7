/** What a run says of records that the service counts and does not show. */
import { counted } from '../../lib/counted.ts'

export const hiddenNote = (records: number): string =>
  `the service counts ${counted(records, 'record')} that it shows on no page`
