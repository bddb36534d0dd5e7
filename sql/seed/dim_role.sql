-- One row per base role, the values by which users can be filtered; ld roles are those of agencies.
insert into star.dim_role (role_id, label, is_base_role)
select seed.role_id, seed.label, seed.is_base_role
from (
  values
    ('companyAdmin', 'Company admin', true),
    ('companyFinance', 'Company finance', true),
    ('companyBot', 'Company bot', true),
    ('projectAdmin', 'Project admin', true),
    ('projectFinance', 'Project finance', true),
    ('projectApprover', 'Project approver', true),
    ('projectRequestor', 'Project requestor', true),
    ('ldAdmin', 'Agency admin', true),
    ('ldUser', 'Agency staff', true)
) as seed (role_id, label, is_base_role)
where not exists (select 1 from star.dim_role as existing where existing.role_id = seed.role_id);
