/** What a landing needs of the place that keeps its files: a folder of this machine, or a bucket that machines share. */
import type { FileSum, Journal } from './journal.ts'

export interface Stored {
  /** Within its folder. */
  readonly name: string
  readonly bytes: number
}

/** A name is a file in the folder of a scan or of an archive, or a journal beside these folders. */
export interface LandingStore {
  /** As messages name it. */
  readonly where: string
  /** The folder of this machine that has the files which were brought here; of a landing in a folder all of them. */
  readonly root: string
  /** Where temporary files lie. */
  readonly home: string
  /** Throws where files cannot be put, read, listed or removed. */
  tryOut(): Promise<void>
  /** Scans and archives. */
  folders(): Promise<string[]>
  /** Empty for a folder that is not there. */
  list(folder: string): Promise<Stored[]>
  /** Whether a file is there. */
  has(name: string): Promise<boolean>
  /** Undefined when it is not there. */
  read(name: string): Promise<Buffer | undefined>
  /** The first and the last bytes of a file. */
  edges(name: string, length: number): Promise<Edges>
  /** The files are below `root` then, as they are stored now. */
  bring(folder: string, files: readonly Stored[]): Promise<void>
  /** Makes a folder ready for its only writer. */
  begin(folder: string): Promise<void>
  /** Written completely or not at all; below `root` as well. */
  put(name: string, bytes: Buffer): Promise<void>
  /** The same for a file that others may read or replace meanwhile. */
  replace(name: string, bytes: Buffer): Promise<void>
  /** Part of the names of files of an archive: where it is no rename that puts them, no two archives may have the same. */
  unique(): string
  /** `part`, of this machine, becomes a folder with its files or takes the place of one; with `keepsAge` as old as that was. */
  putFolder(folder: string, part: string, keepsAge?: boolean): Promise<void>
  /** When a folder was put; milliseconds since the epoch. */
  writtenAt(folder: string): Promise<number>
  /** A file or a folder, which need not be there. */
  remove(name: string): Promise<void>
  /** What a journal has; undefined when there is none. */
  sums(journal: string): Promise<Journal | undefined>
  /** To be called when the file is there: a process that dies in between leaves a file that no line names. */
  note(journal: string, sum: FileSum): Promise<void>
  /** To be called before the file goes. */
  noteGone(journal: string, name: string): Promise<void>
  /** What was brought here goes, where it is no more than a copy. */
  release(folder: string): void
  close(): void
}

export interface Edges {
  readonly start: string
  readonly end: string
}
