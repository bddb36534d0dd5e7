/** Writes the Kubernetes CronJob of a DAG. */
import { posix } from 'node:path'
import { stringify } from 'yaml'
import type { NamedFile } from '../../../config/found-source.ts'
import { type DagExportRequest, type DagFile, exitCodeLines, variableLines } from './files.ts'

/** Turns exit code 75 into 0: otherwise a pod whose DAG is done for today would count as failed. */
const script = 'muster "$@"; code=$?; if [ $code -eq 75 ]; then exit 0; fi; exit $code'

/** Working folder of the container: paths in settings are relative to it. */
const home = '/data'

interface Mounts {
  readonly volumes: readonly object[]
  readonly volumeMounts: readonly object[]
  /** Arguments that name the settings. */
  readonly config: readonly string[]
  /** Commands that create the mounted objects. */
  readonly commands: readonly string[]
}

const quoted = (word: string): string =>
  /^[\w./:=@,-]+$/.test(word) ? word : `'${word.replaceAll("'", () => `'\\''`)}'`

const creating = (kind: string, name: string, files: ReadonlyMap<string, string>): string =>
  `kubectl create ${kind} ${name} ${[...files].map(([key, path]) => quoted(`--from-file=${key}=${path}`)).join(' ')}`

/** Gives each file a valid Kubernetes key; a number tells files of the same name apart. */
function keyed<File extends { readonly path: string }>(files: readonly File[]): Map<string, File> {
  const found = new Map<string, File>()
  for (const file of files) {
    const key = posix.basename(file.path).replace(/[^\w.-]/g, '_')
    const others = [...found.keys()].filter(other => other.replace(/^\d+-/, '') === key).length
    found.set(others === 0 ? key : `${others}-${key}`, file)
  }
  return found
}

const paths = (files: ReadonlyMap<string, { readonly path: string }>): Map<string, string> =>
  new Map([...files].map(([key, { path }]) => [key, path]))

/** Mounts each file at the path where a run expects it, one by one, so that the rest of the folder stays visible. */
function fileMounts(volume: string, files: ReadonlyMap<string, NamedFile>): object[] {
  return [...files].map(([subPath, { name }]) => ({
    name: volume,
    mountPath: posix.resolve(home, name),
    subPath,
    readOnly: true,
  }))
}

function settingsMounts({ settings, named }: DagExportRequest): Mounts {
  if (settings.length === 0) return { volumes: [], volumeMounts: [], config: [], commands: [] }
  // A file cannot be mounted inside a read-only folder.
  const isTaken = named.some(({ name }) => posix.resolve(home, name).startsWith('/etc/muster/'))
  const folder = isTaken ? '/etc/muster-settings' : '/etc/muster'
  const [only] = settings
  const files =
    settings.length === 1 && only !== undefined
      ? new Map([['muster.yaml', only]])
      : paths(keyed(settings.map(path => ({ path }))))
  return {
    volumes: [{ name: 'settings', configMap: { name: 'muster-settings' } }],
    volumeMounts: [{ name: 'settings', mountPath: folder, readOnly: true }],
    config: ['--config', settings.length === 1 ? `${folder}/muster.yaml` : folder],
    commands: [creating('configmap', 'muster-settings', files)],
  }
}

function keyMounts({ named, name }: DagExportRequest): Omit<Mounts, 'config'> {
  if (named.length === 0) return { volumes: [], volumeMounts: [], commands: [] }
  const files = keyed(named)
  const secretName = `${name}-files`
  return {
    // 0440: readable by its owner and the group of the pod.
    volumes: [{ name: 'files', secret: { secretName, defaultMode: 0o440 } }],
    volumeMounts: fileMounts('files', files),
    commands: [creating('secret generic', secretName, paths(files))],
  }
}

function dagMounts({ dagFile, name }: DagExportRequest): Omit<Mounts, 'config'> {
  if (dagFile === undefined) return { volumes: [], volumeMounts: [], commands: [] }
  const files = keyed([dagFile])
  return {
    volumes: [{ name: 'dag', configMap: { name: `${name}-dag` } }],
    volumeMounts: fileMounts('dag', files),
    commands: [creating('configmap', `${name}-dag`, paths(files))],
  }
}

function mountsOf(request: DagExportRequest): Mounts {
  const settings = settingsMounts(request)
  const all = [settings, keyMounts(request), dagMounts(request)]
  return {
    volumes: all.flatMap(one => one.volumes),
    volumeMounts: all.flatMap(one => one.volumeMounts),
    config: settings.config,
    commands: all.flatMap(one => one.commands),
  }
}

const container = (
  { dag, options, image, variables }: DagExportRequest,
  { volumeMounts, config }: Mounts,
) => ({
  name: 'muster',
  image,
  workingDir: home,
  command: ['/bin/sh', '-c', script, 'muster'],
  args: ['dag', 'run', dag, '--quiet', ...config, ...options],
  envFrom: [{ secretRef: { name: 'muster-env', ...(variables.length === 0 && { optional: true }) } }],
  resources: { requests: { cpu: '500m', memory: '600Mi' }, limits: { memory: '1Gi' } },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  volumeMounts: [{ name: 'data', mountPath: home }, ...volumeMounts],
})

const podOf = (request: DagExportRequest, mounts: Mounts) => ({
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 120,
  securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
  containers: [container(request, mounts)],
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'muster-data' } }, ...mounts.volumes],
})

export function kubernetesFile(request: DagExportRequest): DagFile {
  const { name, description, schedule, longest, variables } = request
  const mounts = mountsOf(request)
  const tree = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, labels: { 'app.kubernetes.io/name': 'muster' } },
    spec: {
      schedule,
      timeZone: 'Etc/UTC',
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 3600,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 7,
      jobTemplate: {
        spec: {
          activeDeadlineSeconds: longest,
          backoffLimit: 1,
          // A retry would not fix a failed check or wrong settings.
          podFailurePolicy: {
            rules: [
              {
                action: 'FailJob',
                onExitCodes: { containerName: 'muster', operator: 'In', values: [2, 3, 78] },
              },
            ],
          },
          template: { spec: podOf(request, mounts) },
        },
      },
    },
  }
  const head = [
    `${name}: ${description}`,
    `Install with: kubectl apply -f ${name}.yaml`,
    'It needs an image with the program, and once:',
    ...(variables.length === 0
      ? []
      : ['  kubectl create secret generic muster-env --from-env-file=muster.env']),
    ...mounts.commands.map(command => `  ${command}`),
    '  a PersistentVolumeClaim named muster-data, for the warehouse file and the landed pages',
    ...(variables.length === 0
      ? []
      : ['Secrets are lines NAME=value of muster.env.', ...variableLines(request)]),
    ...exitCodeLines,
  ]
  const text = `${head.map(line => `# ${line}`).join('\n')}\n${stringify(tree, { lineWidth: 0 })}`
  return { name: `${name}.yaml`, text }
}
