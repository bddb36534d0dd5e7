#!/usr/bin/env node
/** The program: reads the command line, runs it, and leaves with its exit code. */
import { stopSignal } from './cli/stop-signal.ts'
import { afterWriting, lastLine, whenOutputFails } from './cli/terminal/terminal.ts'
import { keepCompiledCode } from './config/compiled-code.ts'
import { keepLibrariesQuiet } from './config/environment.ts'
import { keepMemorySmall } from './config/memory.ts'
import { limitBehind, type MusterError } from './lib/errors.ts'

function leave({ message, exitCode }: MusterError): void {
  lastLine(message)
  // Rolls back what was not committed; handlers of the exit remove temporary files.
  process.exit(exitCode)
}

// First of all: what loads takes a second on a busy machine, and a signal may come by then.
const signal = stopSignal(leave)
keepMemorySmall()
keepLibrariesQuiet()
keepCompiledCode()
// An error that nobody has caught, also of a module that cannot be loaded: Node would write its stack and the text around it.
process.on('uncaughtException', error => {
  lastLine(limitBehind(error) ?? `unexpected ${error}`)
  process.exit(1)
})
const [{ commandSet }, { run }, { systemWorld }] = await Promise.all([
  import('./cli/commands.ts'),
  import('./cli/program.ts'),
  import('./cli/world.ts'),
])

if (signal.aborted) leave(signal.reason)

whenOutputFails(status => process.exit(status))

// Warehouse, log and pages hold personal data: whatever is written is its owner's alone; publish opens its copy to all.
process.umask(0o077)

const status = await run(process.argv.slice(2), systemWorld(signal), commandSet)
// Leaves only once everything written to a pipe has arrived, and even if a handle is still open.
afterWriting(failed => process.exit(status || failed))
