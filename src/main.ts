#!/usr/bin/env node
/** Runs the command line and exits with its exit code. */
import { stopSignal } from './cli/stop-signal.ts'
import { afterWriting, lastLine, whenOutputFails } from './cli/terminal/terminal.ts'
import { keepLibrariesQuiet } from './config/environment.ts'
import { keepCompiledCode, keepMemorySmall } from './config/start.ts'
import { limitBehind, type MusterError } from './lib/errors.ts'

function leave({ message, exitCode }: MusterError): void {
  lastLine(message)
  // Exiting rolls back open transactions; exit handlers remove temporary files.
  process.exit(exitCode)
}

// Comes first: loading the rest takes a second on a busy machine, and a signal may arrive meanwhile.
const signal = stopSignal(leave)
keepMemorySmall()
keepLibrariesQuiet()
keepCompiledCode()
// Prints uncaught errors, including failed imports, as one line; Node would print the stack and source text.
process.on('uncaughtException', error => {
  lastLine(limitBehind(error)?.message ?? `unexpected ${error}`)
  process.exit(1)
})
const [{ commandSet }, { run }, { systemWorld }] = await Promise.all([
  import('./cli/commands.ts'),
  import('./cli/program.ts'),
  import('./cli/world.ts'),
])

if (signal.aborted) leave(signal.reason)

whenOutputFails(status => process.exit(status))

// Warehouse, log and pages hold personal data: files are readable by their owner only. publish opens its copy to all.
process.umask(0o077)

const status = await run(process.argv.slice(2), systemWorld(signal), commandSet)
// Exits once everything written to a pipe has arrived, even if a handle is still open.
afterWriting(failed => process.exit(status || failed))
