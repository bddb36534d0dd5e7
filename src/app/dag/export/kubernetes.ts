/** A CronJob of Kubernetes for one DAG. */
import { stringify } from 'yaml'
import { type ExportedFile, type ExportRequest, exitCodeLines } from './files.ts'

/** A pod that ended with 75 would count as failed: for the DAG it is done for today. */
const script = 'muster "$@"; code=$?; if [ $code -eq 75 ]; then exit 0; fi; exit $code'

const container = ({ dag, options, image }: ExportRequest) => ({
  name: 'muster',
  image,
  workingDir: '/data',
  command: ['/bin/sh', '-c', script, 'muster'],
  args: ['dag', 'run', dag, '--quiet', '--config', '/etc/muster/muster.yaml', ...options],
  envFrom: [{ secretRef: { name: 'muster-env' } }],
  resources: { requests: { cpu: '500m', memory: '600Mi' }, limits: { memory: '1Gi' } },
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  volumeMounts: [
    { name: 'data', mountPath: '/data' },
    { name: 'settings', mountPath: '/etc/muster', readOnly: true },
  ],
})

const podOf = (request: ExportRequest) => ({
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 120,
  securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
  containers: [container(request)],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'muster-data' } },
    { name: 'settings', configMap: { name: 'muster-settings' } },
  ],
})

export function kubernetesFile(request: ExportRequest): ExportedFile {
  const { name, description, schedule, longest } = request
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
          // Another attempt helps neither a failed check nor wrong settings.
          podFailurePolicy: {
            rules: [
              {
                action: 'FailJob',
                onExitCodes: { containerName: 'muster', operator: 'In', values: [2, 3, 78] },
              },
            ],
          },
          template: { spec: podOf(request) },
        },
      },
    },
  }
  const head = [
    `${name}: ${description}`,
    `Install with: kubectl apply -f ${name}.yaml`,
    'It needs an image with the program, and once:',
    '  kubectl create secret generic muster-env --from-env-file=muster.env',
    '  kubectl create configmap muster-settings --from-file=muster.yaml=config/muster.yaml',
    '  a PersistentVolumeClaim named muster-data, for the warehouse file and the landed pages',
    ...exitCodeLines,
  ]
  const text = `${head.map(line => `# ${line}`).join('\n')}\n${stringify(tree, { lineWidth: 0 })}`
  return { name: `${name}.yaml`, text }
}
