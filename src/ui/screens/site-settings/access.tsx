import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { MemberResponse } from "../../../domain/membership.ts"
import type { OwnSiteResponse } from "../../../domain/site-response.ts"
import { getAll, put, remove } from "../../api/api.ts"
import { canInOrganization, useMe } from "../../api/session.ts"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { SelectField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { EmptyState, QueryResult } from "../../parts/states.tsx"
import { Person } from "../../parts/values.tsx"
import { visible } from "../../text/safe-text.tsx"
import { useMembers } from "../organization/own-organization.ts"
import { sitePath } from "./settings.ts"

type SiteMember = Pick<MemberResponse, "user" | "role">

const ROLES = [
  { value: "viewer", label: "Viewer: views reports" },
  { value: "editor", label: "Editor: also edits goals, funnels and notes" },
  { value: "admin", label: "Admin: also manages settings and access" },
] as const
const roleText = (role: string): string => role.charAt(0).toUpperCase() + role.slice(1)

/** Lists site-specific roles, which replace the organization role on this site, and assigns or removes them. */
export function Access({ site }: { site: OwnSiteResponse }) {
  const path = `${sitePath(site.id)}/members`
  const client = useQueryClient()
  const key = ["site-members", site.id]
  const members = useQuery({ queryKey: key, queryFn: ({ signal }) => getAll<SiteMember>(`${path}?`, signal) })
  const [removed, setRemoved] = useState<SiteMember>()
  const refresh = () => client.invalidateQueries({ queryKey: key })
  const me = useMe()
  const seesOrganization = canInOrganization(me, site.organization.id, "members:read")
  return (
    <>
      <section class="card stack" aria-labelledby="access">
        <h2 id="access">Site-specific roles</h2>
        <p class="quiet">
          By default, members have their role in {visible(site.organization.name)}. A site-specific role replaces it on this site. Guests
          only see sites they have a role on. Owners and admins always keep their role.
        </p>
        <QueryResult of={members} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>No one has a site-specific role.</EmptyState>
            ) : (
              <DataTable
                caption="Members with a site-specific role"
                rows={rows}
                keyOf={({ user }) => user.id}
                columns={[
                  { id: "user", label: "Member", cell: ({ user }) => <Person {...user} /> },
                  { id: "role", label: "Role", cell: ({ role }) => roleText(role) },
                  {
                    id: "acts",
                    label: "Actions",
                    cell: (member) => (
                      <Button
                        kind="danger"
                        onClick={() => setRemoved(member)}
                        aria-label={`Remove the role of ${visible(member.user.name)}`}
                      >
                        Remove role
                      </Button>
                    ),
                  },
                ]}
              />
            )
          }
        </QueryResult>
        {seesOrganization && !members.isLoading && (
          <p>
            <ButtonLink href={`/org/${site.organization.id}/members`}>View organization members</ButtonLink>
          </p>
        )}
      </section>
      {seesOrganization && !members.isLoading && <AssignRole site={site} path={path} onDone={refresh} />}
      {removed && (
        <Confirm
          title="Remove site-specific role?"
          act="Remove role"
          onConfirm={async () => {
            await remove(`${path}/${removed.user.id}`)
            await refresh()
          }}
          onClose={() => setRemoved(undefined)}
        >
          {visible(removed.user.name)} will have their organization role on this site. Guests lose access to it.
        </Confirm>
      )}
    </>
  )
}

function AssignRole({ site, path, onDone }: { site: OwnSiteResponse; path: string; onDone(): Promise<unknown> }) {
  const people = useMembers(site.organization.id)
  const [user, setUser] = useState("")
  const [role, setRole] = useState("viewer")
  const own = people.data?.filter((member) => member.role !== "owner" && member.role !== "admin") ?? []
  const chosen = user || String(own[0]?.user.id ?? "")
  return (
    <section class="card stack" aria-labelledby="assign-role">
      <h2 id="assign-role">Assign a role</h2>
      <QueryResult of={people} rows={2}>
        {() =>
          own.length === 0 ? (
            <EmptyState>All members are owners or admins, who already have access to every site.</EmptyState>
          ) : (
            <Form
              submit={async () => {
                await put(`${path}/${chosen}`, { role })
                await onDone()
              }}
            >
              {({ busy, errorOf }) => (
                <>
                  <SelectField
                    label="Member"
                    value={chosen}
                    onValue={setUser}
                    options={own.map((member) => ({
                      value: String(member.user.id),
                      label: `${visible(member.user.name)}, ${visible(member.user.email)} (${member.role})`,
                    }))}
                  />
                  <SelectField label="Role on this site" value={role} onValue={setRole} options={ROLES} error={errorOf("/role")} />
                  <div>
                    <Button type="submit" busy={busy}>
                      Assign role
                    </Button>
                  </div>
                </>
              )}
            </Form>
          )
        }
      </QueryResult>
    </section>
  )
}
