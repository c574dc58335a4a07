import { useState } from "preact/hooks"
import type { MemberResponse } from "../../../../domain/membership.ts"
import { Button, ButtonLink } from "../../../parts/button.tsx"
import { type Column, DataTable } from "../../../parts/data-table.tsx"
import { SelectField, TextField } from "../../../parts/form/fields.tsx"
import { Page } from "../../../parts/page.tsx"
import { EmptyState, QueryResult } from "../../../parts/states.tsx"
import { Person, TimeAgo } from "../../../parts/values.tsx"
import { dayText } from "../../../text/format.ts"
import { visible } from "../../../text/safe-text.tsx"
import { can, type OwnSite, type SectionProps, useMembers, useOwnSites } from "../own-organization.ts"
import { RemoveMember, TransferOwnership } from "./member-actions.tsx"
import { MemberDialog } from "./member-dialog.tsx"
import { permissionText, ROLES, roleLabel } from "./roles.ts"

const LAST_OWNER = "The last owner can't give up the role. Make another member an owner first."

export const isLastOwner = (member: MemberResponse, all: readonly MemberResponse[]): boolean =>
  member.role === "owner" && all.filter(({ role }) => role === "owner").length === 1

type Act = { kind: "change" | "remove"; id: number } | { kind: "transfer" }

export function Members({ organization, me }: SectionProps) {
  const members = useMembers(organization.id)
  const sites = useOwnSites(organization.id)
  const [wanted, setWanted] = useState("")
  const [role, setRole] = useState("")
  const [act, setAct] = useState<Act>()
  const writes = can(organization, "members:write")
  const all = members.data ?? []
  const chosen = act && "id" in act ? all.find(({ user }) => user.id === act.id) : undefined
  const close = () => setAct(undefined)
  const acts = writes ? { own: me.user.id, ownRole: organization.role, organizationId: organization.id, all, onAct: setAct } : undefined
  return (
    <Page
      title="Members"
      actions={
        writes && (
          <>
            {organization.role === "owner" && <Button onClick={() => setAct({ kind: "transfer" })}>Transfer ownership</Button>}
            <ButtonLink href={`/org/${organization.id}/invitations`} kind="primary">
              Invite member
            </ButtonLink>
          </>
        )
      }
    >
      <div class="sites-tools">
        <TextField label="Search members" type="search" value={wanted} onValue={setWanted} />
        <SelectField
          label="Role"
          value={role}
          onValue={setRole}
          options={[{ value: "", label: "All roles" }, ...ROLES.map((value) => ({ value, label: roleLabel(value) }))]}
        />
      </div>
      <QueryResult of={members} rows={4}>
        {(rows) => {
          const shown = rows.filter((member) => (role === "" || member.role === role) && isWanted(member, wanted))
          return shown.length === 0 ? (
            <EmptyState>No members match. Search for part of a name or email address.</EmptyState>
          ) : (
            <DataTable
              stacks
              caption="Members"
              rows={shown}
              keyOf={({ user }) => user.id}
              columns={[...columnsOf(sites, all), ...(acts ? [actionsColumn(acts)] : [])]}
            />
          )
        }}
      </QueryResult>
      {act?.kind === "change" && chosen && <MemberDialog organization={organization} member={chosen} onClose={close} />}
      {act?.kind === "remove" && chosen && <RemoveMember organizationId={organization.id} member={chosen} onClose={close} />}
      {act?.kind === "transfer" && <TransferOwnership organization={organization} all={all} own={me.user.id} onClose={close} />}
    </Page>
  )
}

function isWanted({ user }: MemberResponse, wanted: string): boolean {
  const text = wanted.trim().toLowerCase()
  return user.name.toLowerCase().includes(text) || user.email.toLowerCase().includes(text)
}

const lastOwnerNote = (id: number): string => `last-owner-${id}`

const columnsOf = (sites: readonly OwnSite[], all: readonly MemberResponse[]): Column<MemberResponse>[] => [
  { id: "user", label: "Member", cell: ({ user }) => <Person {...user} /> },
  {
    id: "role",
    label: "Role",
    cell: (member) => (
      <>
        <div>{roleLabel(member.role)}</div>
        {isLastOwner(member, all) && (
          <div class="small quiet" id={lastOwnerNote(member.user.id)}>
            {LAST_OWNER}
          </div>
        )}
        <Exceptions member={member} sites={sites} />
      </>
    ),
  },
  { id: "mfa", label: "Two-step verification", cell: ({ mfa }) => (mfa ? "On" : "Off") },
  { id: "seen", label: "Last seen", cell: ({ last_seen_at }) => <TimeAgo at={last_seen_at} /> },
  { id: "joined", label: "Joined", cell: ({ joined_at }) => <time dateTime={joined_at}>{dayText(joined_at)}</time> },
]

/** Shows how the member's permissions differ from the role. */
function Exceptions({ member, sites }: { member: MemberResponse; sites: readonly OwnSite[] }) {
  const nameOf = (id: number) => visible(sites.find((site) => site.id === id)?.name ?? `site ${id}`)
  const lines = [
    ...(member.grants.length > 0 ? [`can also ${member.grants.map(permissionText).join("; ")}`] : []),
    ...(member.denies.length > 0 ? [`can't ${member.denies.map(permissionText).join("; ")}`] : []),
    ...member.site_roles.map(({ site_id, role }) => `${nameOf(site_id)}: ${roleLabel(role).toLowerCase()}`),
  ]
  return (
    <>
      {lines.map((line) => (
        <div key={line} class="small quiet">
          {line}
        </div>
      ))}
    </>
  )
}

interface ActionsColumnOptions {
  own: number
  ownRole: string
  organizationId: number
  all: readonly MemberResponse[]
  onAct(act: Act): void
}

/** Returns the column of actions. Only owners can edit owners. */
const actionsColumn = ({ own, ownRole, organizationId, all, onAct }: ActionsColumnOptions): Column<MemberResponse> => ({
  id: "acts",
  label: "Actions",
  cell: (member) => {
    const { id, name } = member.user
    const isLast = isLastOwner(member, all)
    if (member.role === "owner" && ownRole !== "owner") return null
    const disabled = { disabled: isLast, ...(isLast && { "aria-describedby": lastOwnerNote(id) }) }
    return (
      <div class="acts">
        <Button aria-label={`Edit ${visible(name)}`} onClick={() => onAct({ kind: "change", id })} {...disabled}>
          Edit
        </Button>
        {id === own ? (
          !isLast && <ButtonLink href={`/org/${organizationId}/membership`}>Leave</ButtonLink>
        ) : (
          <Button kind="danger" aria-label={`Remove ${visible(name)}`} onClick={() => onAct({ kind: "remove", id })} {...disabled}>
            Remove
          </Button>
        )}
      </div>
    )
  },
})
