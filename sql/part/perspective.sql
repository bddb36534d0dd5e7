-- Whose view a document belongs to, by who bills whom. In a managed company the agency bills the provider, which bills the
-- company, so one amount stands on two documents: each view has one of them. A document of another type is the agency's bill
-- to the company.
perspective as (
  select 'client' as perspective, 'supplierToClient' as invoice_type
  union all
  select 'client' as perspective, 'mspToClient' as invoice_type
  union all
  select 'provider' as perspective, 'supplierToMsp' as invoice_type
  union all
  select 'supplier' as perspective, 'supplierToClient' as invoice_type
  union all
  select 'supplier' as perspective, 'supplierToMsp' as invoice_type
),
