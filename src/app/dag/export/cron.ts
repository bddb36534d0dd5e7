/** Writes the crontab of a DAG. */
import { type DagExportRequest, type DagFile, exitCodeLines, runWords, variableLines } from './files.ts'

/** Quotes for `sh`; a bare % would end the command in a crontab. */
const quoted = (word: string): string =>
  (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`).replaceAll('%', '\\%')

export function cronFile(request: DagExportRequest): DagFile {
  const { name, dag, description, schedule, folder } = request
  const command = runWords(request).map(quoted).join(' ')
  const within = `cd ${quoted(folder)} && if [ -f muster.env ]; then set -a; . ./muster.env; set +a; fi`
  const lines = [
    `# ${name}: ${description}`,
    `# Install with: (crontab -l; cat ${name}.crontab) | crontab -`,
    `# Secrets are lines NAME=value of ${folder}/muster.env (chmod 600). The time is UTC: where cron ignores CRON_TZ, as on`,
    '# Debian, set the machine to UTC or change the time below.',
    ...[...variableLines(request), ...exitCodeLines].map(line => `# ${line}`),
    '# Cron mails the message of a failed run.',
    'CRON_TZ=UTC',
    `${schedule} ${within}; ${command} >> ${quoted(`${name}.log`)} || [ $? -eq 75 ] || echo ${quoted(`muster dag run ${dag} failed: see ${folder}/${name}.log`)}`,
  ]
  return { name: `${name}.crontab`, text: `${lines.join('\n')}\n` }
}
