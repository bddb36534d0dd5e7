/** Hiring companies, with their finance details and configuration. */
import {
  constant,
  coordinate,
  derived,
  flag,
  id,
  integer,
  json,
  keyOf,
  number,
  ofParent,
  ofRoot,
  ordinal,
  personal,
  restricted,
  text,
  untyped,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, phone } from '../fields/shared-columns.ts'
import { bridge, dimension, each, eachLeaf, eachValue, ofOrganisations, only } from '../fields/table.ts'

const basedOn = bridge(
  'cost_component_based_on',
  'One row per component that a cost component is based on.',
  {
    cost_component_based_on_key: keyOf('cost_component_key', 'based_on_ordinal'),
    cost_component_key: ofParent('cost_component_key'),
    company_id: ofRoot('company_id'),
    based_on_ordinal: ordinal(),
    based_on: text('', 'Key of the component it is based on.'),
  },
)

const sectors = bridge('cost_component_sector', 'One row per sector that a cost component applies to.', {
  cost_component_sector_key: keyOf('cost_component_key', 'sector_ordinal'),
  cost_component_key: ofParent('cost_component_key'),
  company_id: ofRoot('company_id'),
  sector_ordinal: ordinal(),
  sector_id: text('', 'Id of the sector.'),
})

const costComponent = (side: 'markup' | 'emp') =>
  dimension(
    'company_cost_component',
    'One row per cost component of a company: the markup or an employer cost.',
    {
      cost_component_key: keyOf('company_id', 'side', 'component_ordinal'),
      company_id: ofRoot('company_id'),
      side: constant(side, 'markup or emp (employer cost).'),
      component_ordinal: ordinal(),
      name: text('name', 'Name.'),
      component_key: text('key', 'Key that other components refer to.'),
      value: number('value', 'Value, as configured.'),
      based_on: eachValue('basedOn', basedOn),
      sectors: eachValue('sectors', sectors),
    },
  )

const restriction = dimension('company_restriction', 'One row per configured restriction of a company.', {
  company_restriction_key: keyOf('company_id', 'restriction_ordinal'),
  company_id: ofRoot('company_id'),
  restriction_ordinal: ordinal(),
  type: text('type', 'Kind of restriction.'),
  item: untyped(text('item', 'What is restricted.')),
  label: text('label', 'Label.'),
  description: text('description', 'What the restriction is for.'),
  is_enabled: flag('enabled', 'Whether it is in force.'),
  roles: eachValue(
    'affectedRoles',
    bridge('company_restriction_role', 'One row per role that a restriction affects.', {
      company_restriction_role_key: keyOf('company_restriction_key', 'role_ordinal'),
      company_restriction_key: ofParent('company_restriction_key'),
      company_id: ofRoot('company_id'),
      role_ordinal: ordinal(),
      role: untyped(text('', 'Role that the restriction affects.')),
    }),
  ),
  users: eachValue(
    'exceptionUsers',
    bridge('company_restriction_user', 'One row per user excepted from a restriction.', {
      company_restriction_user_key: keyOf('company_restriction_key', 'user_ordinal'),
      company_restriction_key: ofParent('company_restriction_key'),
      company_id: ofRoot('company_id'),
      user_ordinal: ordinal(),
      user_id: untyped(text('', 'User whom the restriction leaves out.')),
    }),
  ),
})

const configuration = {
  settings: eachLeaf(
    'config',
    dimension('company_setting', 'One row per leaf of the company configuration, documented or not.', {
      company_setting_key: keyOf('company_id', 'setting_path'),
      company_id: ofRoot('company_id'),
      setting_path: text('path', 'Path of the leaf, such as enhancedUplifts.weekly.threshold.'),
      setting_value: personal(text('value', 'Value as text, also of a setting that is an e-mail address.')),
      value_text: derived(
        'text',
        `case when setting_value not like '%@%' then setting_value end`,
        'Value as text; empty for an e-mail address, which is in pii.',
      ),
      value_type: text('type', 'number, boolean, text, or empty for an empty list or object.'),
      value_number: derived(
        'number',
        `case when value_type = 'number' then try_cast(setting_value as decimal(18, 8)) end`,
        'Value, when it is a number.',
      ),
      value_boolean: derived(
        'boolean',
        `case when value_type = 'boolean' then setting_value = 'true' end`,
        'Value, when it is true or false.',
      ),
    }),
  ),
  restrictions: each('config.restrictions', restriction),
  uplifts: each(
    'config.rateUplifts',
    dimension('company_rate_uplift', 'One row per configured rate uplift of a company.', {
      company_rate_uplift_key: keyOf('company_id', 'uplift_ordinal'),
      company_id: ofRoot('company_id'),
      uplift_ordinal: ordinal(),
      description: text('description', 'What the uplift is for.'),
      type: text('type', 'Kind of uplift.'),
      uplift: number('uplift', 'Factor.'),
    }),
  ),
  tiers: each(
    'config.tierRules',
    dimension('company_tier_rule', 'One row per tier rule of a company.', {
      company_tier_rule_key: keyOf('company_id', 'rule_ordinal'),
      company_id: ofRoot('company_id'),
      rule_ordinal: ordinal(),
      value: number('value', 'Value, as configured.'),
      tier: untyped(text('tier', 'Tier.')),
      is_active: flag('isActive', 'Whether the rule is in force.'),
    }),
  ),
  stages: eachValue(
    'config.multiStageApproval.req.stageNames',
    dimension('company_approval_stage_name', 'One row per stage of requisition approval of a company.', {
      company_approval_stage_key: keyOf('company_id', 'stage'),
      company_id: ofRoot('company_id'),
      stage: ordinal('Stage, from 1.'),
      stage_name: text('', 'Name of the stage.'),
    }),
  ),
  msps: eachValue(
    'config.mspConfig.msps',
    dimension('company_msp', 'One row per managed service provider of a company.', {
      company_msp_key: keyOf('company_id', 'msp_ordinal'),
      company_id: ofRoot('company_id'),
      msp_ordinal: ordinal(),
      msp: untyped(text('', 'Managed service provider, as configured.')),
    }),
  ),
}

const finance = (field: string, what: string) => restricted(text(`finance.${field}`, what))

export const companies = resource({
  name: 'companies',
  entity: 'company',
  description: 'Hiring companies that the key may read.',
  path: '/companies',
  query: { includeConfig: 'true' },
  keys: { agency: 'not at all' },
  read: { strategy: 'scan', createdBetween: {} },
  single: { path: '/companies/{id}', query: { includeConfig: 'true' } },
  updatedAt: 'updatedAt',
  table: ofOrganisations(
    dimension('company', 'One row per hiring company.', {
      company_id: id('id', 'Id of the company.'),
      name: text('name', 'Name.'),
      prefix: text('prefix', 'Prefix of the references it generates.'),
      email: personal(text('email', 'E-mail address.')),
      company_number: text('companyNumber', 'Registration number.'),
      industry: text('industry', 'Industry.'),
      is_active: flag('active', 'Whether the company is active.'),
      project_count: integer('projectCount', 'Number of its projects.'),
      ...phone('company'),
      address_line_one: personal(text('address.lineOne', 'Address, first line.')),
      address_line_two: personal(text('address.lineTwo', 'Address, second line.')),
      city: text('address.city', 'City.'),
      region_name: text('address.region', 'Region.'),
      country: text('address.country', 'Country.'),
      postcode: personal(text('address.code', 'Postal code.')),
      postcode_area: derived(
        'text',
        `regexp_extract(upper(postcode), '^[A-Z]{1,2}')`,
        'Letters the postal code begins with.',
      ),
      latitude: coordinate('address.latitude', 'Latitude, in degrees.'),
      longitude: coordinate('address.longitude', 'Longitude, in degrees.'),
      vat: finance('vat', 'VAT number.'),
      finance_company_number: finance('companyNumber', 'Registration number on financial documents.'),
      account_name: finance('accountName', 'Name on the bank account.'),
      bank_name: finance('bankName', 'Name of the bank.'),
      account_number: finance('accountNumber', 'Number of the bank account.'),
      sort_code: finance('sortCode', 'Sort code of the bank account.'),
      utr: finance('utr', 'Unique taxpayer reference.'),
      billing_name: finance('billingName', 'Name on bills.'),
      finance_company: finance('financeCompany', 'Company that finances it.'),
      cis: restricted(
        json('finance.cis', 'Construction Industry Scheme details; the contract does not show the keys.'),
      ),
      billing: restricted(json('finance.billing', 'Billing address; the contract does not show the keys.')),
      finance_email: restricted(
        json('finance.financeEmail', 'E-mail of finance; the contract does not show the keys.'),
      ),
      payment_terms_days: integer('finance.paymentTerms.days', 'Days until payment is due.'),
      payment_terms_text: text('finance.paymentTerms.term', 'Payment terms, in words.'),
      invoice_basis: number('config.invoiceBasis', 'Basis of invoices, as configured.'),
      weekend_day: text('config.weekendDay', 'Day that ends the working week.'),
      user_inactivity_months: integer(
        'config.userInactivityMonths',
        'Months until an unused account becomes inactive.',
      ),
      is_msp_enabled: flag('config.mspConfig.enabled', 'Whether a managed service provider is in use.'),
      ...changeTimes,
      markup: only('finance.costs.markup', costComponent('markup')),
      employer_costs: each('finance.costs.emp', costComponent('emp')),
      ...configuration,
    }),
  ),
})
