/** Writes the systemd service and timer of a DAG. */
import { type DagExportRequest, type DagFile, exitCodeLines, runWords, variableLines } from './files.ts'
import { calendarsOf } from './schedule.ts'

/** systemd replaces % and $ in a command, and splits at spaces. */
const quoted = (word: string): string => {
  const plain = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./:=@%$-]+$/.test(plain) ? plain : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

const path = (text: string): string => text.replaceAll('%', '%%')

export function systemdFiles(request: DagExportRequest): DagFile[] {
  const { name, description, schedule, folder, longest } = request
  const service = `# ${name}.service. Install with:
#   sudo cp ${name}.service ${name}.timer /etc/systemd/system/
#   sudo systemctl daemon-reload && sudo systemctl enable --now ${name}.timer
# Secrets are lines NAME=value of ${folder}/muster.env (chmod 600). Without User= it runs as root.
${[...variableLines(request), ...exitCodeLines].map(line => `# ${line}`).join('\n')}
[Unit]
Description=muster: ${path(description)}
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
WorkingDirectory=${path(folder)}
EnvironmentFile=-${path(folder)}/muster.env
ExecStart=${runWords(request).map(quoted).join(' ')}
SuccessExitStatus=75
# A run ends before the next one begins.
TimeoutStartSec=${longest}
# When stopped, it finishes the current statement; the next run continues.
TimeoutStopSec=120
KillMode=mixed
`
  const timer = `# ${name}.timer starts ${name}.service.
[Unit]
Description=Schedule of muster: ${path(description)}

[Timer]
${calendarsOf(schedule)
  .map(calendar => `OnCalendar=${calendar}`)
  .join('\n')}
# Catches up on a run missed while the machine was off.
Persistent=true

[Install]
WantedBy=timers.target
`
  return [
    { name: `${name}.service`, text: service },
    { name: `${name}.timer`, text: timer },
  ]
}
