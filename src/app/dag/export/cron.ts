/** A crontab for one DAG. */
import { type ExportedFile, type ExportRequest, exitCodeLines, runWords, variableLines } from './files.ts'

/** For `sh`; a bare % ends the command of a crontab. */
const quoted = (word: string): string =>
  (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).replaceAll('%', '\\%')

export function cronFile(request: ExportRequest): ExportedFile {
  const { name, dag, description, schedule, folder } = request
  const command = runWords(request).map(quoted).join(' ')
  const within = `cd ${quoted(folder)} && if [ -f muster.env ]; then set -a; . ./muster.env; set +a; fi`
  const lines = [
    `# ${name}: ${description}`,
    `# Install with: (crontab -l; cat ${name}.crontab) | crontab -`,
    `# Secrets are lines NAME=value of ${folder}/muster.env (chmod 600). The time is UTC: where cron knows no CRON_TZ, as on`,
    '# Debian, the machine must be in UTC, or the time below changed.',
    ...[...variableLines(request), ...exitCodeLines].map(line => `# ${line}`),
    '# Cron sends a mail with what a run that failed has written.',
    'CRON_TZ=UTC',
    `${schedule} ${within}; ${command} >> ${quoted(`${name}.log`)} || [ $? -eq 75 ] || echo ${quoted(`muster dag run ${dag} failed: see ${folder}/${name}.log`)}`,
  ]
  return { name: `${name}.crontab`, text: `${lines.join('\n')}\n` }
}
