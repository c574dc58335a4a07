import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { put, remove } from "../../api.ts"
import { canInOrganization, useMe } from "../../me.ts"
import { Answer } from "../../parts/answer.tsx"
import { Button, ButtonLink } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { Person } from "../../parts/person.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { getAll } from "../../stats/get-all.ts"
import { type Member, useMembers } from "../organization/own-organization.ts"
import { sitePath, type WholeSite } from "./settings.ts"

type SiteMember = Pick<Member, "user" | "role">

const ROLES = [
  { value: "viewer", label: "Viewer: sees reports" },
  { value: "editor", label: "Editor: also goals, funnels, notes" },
  { value: "admin", label: "Admin: also settings and access" },
] as const
const roleText = (role: string): string => role.charAt(0).toUpperCase() + role.slice(1)

/** Roles on this site alone, where they differ from those in the organization. */
export function Access({ site }: { site: WholeSite }) {
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
        <h2 id="access">Roles on this site</h2>
        <p class="quiet">
          Members of {visible(site.organization.name)} have their role there. A role here raises or limits it on this site; guests see only
          the sites they have a role on. Owners and admins keep theirs.
        </p>
        <Answer of={members} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>Nobody has a role of their own on this site.</EmptyState>
            ) : (
              <DataTable
                caption="People with a role on this site"
                rows={rows}
                keyOf={({ user }) => user.id}
                columns={[
                  { id: "user", label: "Person", cell: ({ user }) => <Person {...user} /> },
                  { id: "role", label: "Role", cell: ({ role }) => roleText(role) },
                  {
                    id: "acts",
                    label: "Acts",
                    cell: (member) => (
                      <Button
                        kind="danger"
                        onClick={() => setRemoved(member)}
                        aria-label={`Take away the role of ${visible(member.user.name)}`}
                      >
                        Take away
                      </Button>
                    ),
                  },
                ]}
              />
            )
          }
        </Answer>
        {seesOrganization && (
          <p>
            <ButtonLink href={`/org/${site.organization.id}/members`}>Members of the organization</ButtonLink>
          </p>
        )}
      </section>
      {seesOrganization && <GiveRole site={site} path={path} onDone={refresh} />}
      {removed && (
        <Confirm
          title="Take the role away"
          act="Take the role away"
          onConfirm={async () => {
            await remove(`${path}/${removed.user.id}`)
            await refresh()
          }}
          onClose={() => setRemoved(undefined)}
        >
          {visible(removed.user.name)} then has what their role in the organization gives; as a guest they no longer see the site.
        </Confirm>
      )}
    </>
  )
}

function GiveRole({ site, path, onDone }: { site: WholeSite; path: string; onDone(): Promise<unknown> }) {
  const people = useMembers(site.organization.id)
  const [user, setUser] = useState("")
  const [role, setRole] = useState("viewer")
  const own = people.data?.filter((member) => member.role !== "owner" && member.role !== "admin") ?? []
  const chosen = user || String(own[0]?.user.id ?? "")
  return (
    <section class="card stack" aria-labelledby="give-role">
      <h2 id="give-role">Give a role</h2>
      <Answer of={people} rows={2}>
        {() =>
          own.length === 0 ? (
            <EmptyState>Everybody in the organization is an owner or an admin, who reach every site.</EmptyState>
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
                      Give the role
                    </Button>
                  </div>
                </>
              )}
            </Form>
          )
        }
      </Answer>
    </section>
  )
}
