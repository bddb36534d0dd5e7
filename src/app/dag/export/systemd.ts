/** A service and a timer of systemd for one DAG. */
import { type ExportedFile, type ExportRequest, exitCodeLines, runWords, variableLines } from './files.ts'
import { calendarsOf } from './schedule.ts'

/** systemd replaces % and $ in a command, and splits at spaces. */
const quoted = (word: string): string => {
  const plain = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./:=@%$-]+$/.test(plain) ? plain : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

const path = (text: string): string => text.replaceAll('%', '%%')

export function systemdFiles(request: ExportRequest): ExportedFile[] {
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
# Ended before the next run begins.
TimeoutStartSec=${longest}
# Told to stop, it finishes the statement under way, and the next run goes on.
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
# A run that was missed while the machine was off is made up for.
Persistent=true

[Install]
WantedBy=timers.target
`
  return [
    { name: `${name}.service`, text: service },
    { name: `${name}.timer`, text: timer },
  ]
}
