/** A sync in parts, for a scheduler that runs several tasks on a warehouse with several writers. */
import { catalogue } from '../../contract/catalogue.ts'
import type { Resource } from '../../contract/fields/resource.ts'

export interface SyncGroups {
  /** Each a task of its own, side by side. */
  readonly lists: readonly (readonly string[])[]
  /** One task after the lists, which bring the ids and the companies that it reads by. */
  readonly byId: readonly string[]
}

const namesOf = (resources: readonly Resource[]): string[] => resources.map(({ name }) => name)

const comesAfterLists = ({ read }: Resource): boolean =>
  read.strategy === 'byId' || (read.strategy === 'snapshot' && read.per !== 'key')

export const syncGroups: SyncGroups = {
  lists: namesOf(catalogue.filter(one => !comesAfterLists(one))).map(name => [name]),
  byId: namesOf(catalogue.filter(comesAfterLists)),
}
