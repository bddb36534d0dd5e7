/** Lists fictitious names. */
import type { Draw } from './draw.ts'

export const firstNames = (
  'Adam Aisha Alan Amelia Andrew Anita Ben Bethany Callum Carla Carys Chloe Connor Daniel David Dawn Dylan Eilidh ' +
  'Ella Emma Ewan Farah Fiona Gareth George Grace Hamza Hannah Harry Helen Ian Imran Isla Jack James Jamila Janek ' +
  'Jodie Karen Kieran Laura Leah Lewis Liam Luke Marcin Maria Mark Megan Mohammed Nadia Nathan Neil Niamh Oliver ' +
  'Owen Patricia Paul Priya Rachel Rhys Robert Rosie Ryan Sam Sarah Sean Shauna Simon Sophie Stefan Steven Tariq ' +
  'Thomas Tom Vikram Wendy William Yusuf Zara Zoe'
).split(' ')

export const lastNames = (
  'Adams Ahmed Allen Bailey Baker Barnes Begum Bell Bennett Brooks Brown Burke Campbell Carter Chapman Clarke ' +
  'Collins Cook Cooper Cox Davies Dixon Edwards Ellis Evans Fisher Foster Gill Graham Gray Green Griffiths Hall ' +
  'Harris Harrison Hill Holmes Hughes Hunt Hussain Jackson James Jenkins Johnson Jones Kaur Kelly Khan King Knight ' +
  'Kowalski Lee Lewis Lloyd Marshall Martin Mason Mills Mitchell Moore Morgan Morris Murphy Murray Nowak Palmer ' +
  'Parker Patel Pearce Phillips Powell Price Reid Reynolds Richards Roberts Robinson Rogers Russell Scott Shah ' +
  'Sharma Shaw Simpson Singh Smith Stevens Stewart Taylor Thomas Thompson Turner Walker Walsh Ward Watson Webb ' +
  'White Wilkinson Williams Wilson Wood Wright Young'
).split(' ')

export function personName(draw: Draw): string {
  return `${draw.pick(firstNames)} ${draw.pick(lastNames)}`
}

export const placeNames = (
  'Ashcombe Bramley Caldbeck Darnley Eastmere Fenwick Garforth Hallam Ingleby Kelham Langdale Marlowe Netherby ' +
  'Oakham Penrose Quarry Redmire Selwood Thornbury Ulverley Waverton Yardley'
).split(' ')

export const companyStems = (
  'Harrowgate Northmoor Castlebridge Tidewell Ironvale Summerleigh Blackthorn Westmarch Kingsferry Oakhurst ' +
  'Stonecross Larkfield Millgate Redbourne'
).split(' ')
export const companyTrades = ['Construction', 'Infrastructure', 'Civils', 'Building Services', 'Rail']

export const agencyStems = (
  'Anchor Beacon Cobalt Delta Ember Falcon Granite Harbour Indigo Juniper Keystone Lantern Meridian Northstar ' +
  'Orchard Pinnacle Quayside Ridgeway Sterling Trident Upland Vanguard Willow Yellowhammer Zenith'
).split(' ')
export const agencySuffixes = ['Labour', 'Recruitment', 'Site Services', 'Resourcing', 'People']

export const projectKinds = (
  'Bypass Phase 2, Hospital Extension, Station Upgrade, Distribution Centre, Primary School, ' +
  'Quayside Apartments, Water Treatment Works, Solar Farm, Substation Renewal, Town Hall Refurbishment, ' +
  'Bridge Strengthening, Data Centre, Flood Alleviation, Student Village, Depot Electrification'
).split(', ')

export const siteKinds =
  'Main Compound, North Gate, South Gate, Block A, Block B, Laydown Area, Tower, Car Park'.split(', ')

export interface Trade {
  readonly name: string
  /** Basic pay per hour. Even pence, so that half hours cost whole pence. */
  readonly payPence: number
  readonly qualification: string
  readonly pieceWork?: { readonly name: string; readonly unit: string; readonly payPence: number }
}

export const trades: readonly Trade[] = [
  { name: 'General Labourer', payPence: 1380, qualification: 'CSCS Labourer card' },
  { name: 'Groundworker', payPence: 1850, qualification: 'CSCS Skilled Worker card' },
  {
    name: 'Bricklayer',
    payPence: 2250,
    qualification: 'CSCS Skilled Worker card',
    pieceWork: { name: 'Facing brick laid', unit: 'brick', payPence: 82 },
  },
  { name: 'Carpenter', payPence: 2300, qualification: 'CSCS Skilled Worker card' },
  {
    name: 'Dryliner',
    payPence: 2180,
    qualification: 'CSCS Skilled Worker card',
    pieceWork: { name: 'Board fixed', unit: 'square metre', payPence: 640 },
  },
  { name: 'Steel Fixer', payPence: 2240, qualification: 'CSCS Skilled Worker card' },
  { name: 'Excavator Operator', payPence: 2120, qualification: 'CPCS Excavator 360' },
  { name: 'Dumper Driver', payPence: 1760, qualification: 'CPCS Forward Tipping Dumper' },
  { name: 'Slinger Signaller', payPence: 1820, qualification: 'CPCS Slinger Signaller' },
  { name: 'Tower Crane Operator', payPence: 2600, qualification: 'CPCS Tower Crane' },
  { name: 'Traffic Marshal', payPence: 1440, qualification: 'Traffic Marshal certificate' },
  { name: 'Electrician', payPence: 2420, qualification: 'ECS Gold card' },
  { name: 'Pipefitter', payPence: 2360, qualification: 'JIB-PMES card' },
  { name: 'Site Engineer', payPence: 2900, qualification: 'CSCS Academically Qualified card' },
  { name: 'Fire Marshal', payPence: 1480, qualification: 'Fire Marshal certificate' },
]

export const regionNames = ['North West', 'Midlands', 'London', 'South East', 'Wales']
export const sectorNames = ['Highways', 'Buildings', 'Rail', 'Utilities']
export const cities = [
  ['Manchester', 'M1', 53.48, -2.24],
  ['Birmingham', 'B2', 52.48, -1.9],
  ['London', 'SE1', 51.5, -0.09],
  ['Leeds', 'LS1', 53.8, -1.55],
  ['Cardiff', 'CF10', 51.48, -3.18],
  ['Bristol', 'BS1', 51.45, -2.59],
] as const

/** Records share them. */
export const costCodes = (
  [
    { name: 'PRE-100', description: 'Preliminaries' },
    { name: 'GRW-210', description: 'Groundworks' },
    { name: 'SUB-220', description: 'Substructure' },
    { name: 'SUP-310', description: 'Superstructure' },
    { name: 'FIT-420', description: 'Fit-out' },
    { name: 'LOG-510', description: 'Logistics' },
  ] as const
).map(code => Object.freeze(code))
