/** Limits of the system that any library may run into, each with its own words for it: which one it is, and what to do. */

interface Limit {
  readonly pattern: RegExp
  readonly what: string
  readonly next: string
}

const again = 'and run the command again'

const limits: readonly Limit[] = [
  {
    pattern: /\bEMFILE\b|too many open files(?! in system)/i,
    what: 'this process may not open more files at once',
    next: `raise the limit of open files, as with ulimit -n 1024, ${again}`,
  },
  {
    pattern: /\bENFILE\b|too many open files in system/i,
    what: 'the system may not open more files at once',
    next: `let it open more (fs.file-max), or end other programs, ${again}`,
  },
  {
    pattern:
      /\bENOMEM\b|cannot allocate memory|failed to map segment|std::bad_alloc|WebAssembly.*\bmemory\b|array buffer allocation failed/i,
    what: 'the system gives this process no more memory or address space',
    next: `raise its limit, as with ulimit -v unlimited or for the container, or end other programs, ${again}`,
  },
  {
    pattern: /pthread_create|\bEAGAIN\b|resource temporarily unavailable|(create|start)\w* (a )?thread/i,
    what: 'this process may not start more threads or processes',
    next: `raise the limit of processes, as with ulimit -u 4096 or for the container, ${again}`,
  },
  {
    pattern: /\bEFBIG\b|file too large/i,
    what: 'a file may not become as large as it has to',
    next: `raise the limit of file sizes, as with ulimit -f unlimited, ${again}`,
  },
]

/** Longer chains are loops or noise. */
const deepest = 10

/** One line about the limit that an error or one of its causes tells of; undefined when it is about something else. */
export function limitBehind(error: unknown): string | undefined {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < deepest; depth += 1) {
    const text = `${'code' in cause ? cause.code : ''} ${cause.name}: ${cause.message}`
    const found = limits.find(({ pattern }) => pattern.test(text))
    if (found) return `${found.what}: ${found.next}`
    cause = cause.cause
  }
  return undefined
}
