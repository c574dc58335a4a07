import { useId, useState } from "preact/hooks"
import type { MemberResponse } from "../../../../domain/membership.ts"
import type { Role } from "../../../../domain/organization.ts"
import { patch, put, remove } from "../../../api/api.ts"
import { useMe, useRefreshMe } from "../../../api/session.ts"
import { Button, IconButton } from "../../../parts/button.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { errorText } from "../../../parts/states.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { type OwnOrganization, organizationPath, useOwnSites, useRefresh } from "../own-organization.ts"
import { permissionsHeld, permissionsOfRole, permissionText, ROLE_LABELS, roleLabel, rolesBelow } from "./roles.ts"

interface MemberDialogProps {
  organization: OwnOrganization
  member: MemberResponse
  onClose(): void
}

/** Edits the role, exceptions and site-specific roles of a member. */
export function MemberDialog({ organization, member, onClose }: MemberDialogProps) {
  const me = useMe()
  const refresh = useRefresh(organization.id)
  const refreshMe = useRefreshMe()
  const [role, setRole] = useState<string>(member.role)
  const [exceptions, setExceptions] = useState<Exceptions>({ grants: member.grants, denies: member.denies })
  // An owner can't be denied anything, and a guest's permissions come from site-specific roles.
  const hasExceptions = role !== "owner" && role !== "guest"
  const roles = rolesBelow(organization.role).filter((one) => organization.role === "owner" || one !== "owner")
  const held = permissionsHeld(organization, me?.sites ?? [])
  return (
    <Dialog title={visible(member.user.name)} onClose={onClose}>
      <div class="stack">
        <Form
          label="Role and exceptions"
          submit={async () => {
            const { grants, denies } = hasExceptions ? exceptions : { grants: [], denies: [] }
            const path = `${organizationPath(organization.id)}/members/${member.user.id}`
            try {
              await patch(path, { role, grants, denies, version: member.version })
            } finally {
              // Also after a version conflict, so that the next attempt starts from the current version.
              await refresh("members")
            }
            if (member.user.id === me?.user.id) await refreshMe()
            toast(`${visible(member.user.name)} now has the ${ROLE_LABELS[role as Role].label} role`)
            onClose()
          }}
        >
          {({ busy, errorOf }) => (
            <>
              <SelectField
                label="Role"
                value={role}
                onValue={setRole}
                options={roles.map((one) => ({ value: one, label: `${ROLE_LABELS[one].label}: ${ROLE_LABELS[one].description}` }))}
                error={errorOf("/role")}
              />
              {hasExceptions && <ExceptionsField role={role as Role} held={held} value={exceptions} onValue={setExceptions} />}
              <div class="row">
                <Button kind="primary" type="submit" busy={busy}>
                  Save changes
                </Button>
                <Button onClick={onClose}>Cancel</Button>
              </div>
            </>
          )}
        </Form>
        {member.role !== "owner" && member.role !== "admin" && <SiteRoles organization={organization} member={member} />}
      </div>
    </Dialog>
  )
}

const SITE_ROLES = ["viewer", "editor", "admin"]

/** Edits the site-specific roles of a member. Each change is saved immediately. */
function SiteRoles({ organization, member }: { organization: OwnOrganization; member: MemberResponse }) {
  const id = useId()
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [site, setSite] = useState("")
  const [role, setRole] = useState("viewer")
  const chosen = site || String(sites[0]?.id ?? "")
  const pathOf = (siteId: number | string) => `/api/private/sites/${siteId}/members/${member.user.id}`
  const removeRole = async (siteId: number) => {
    try {
      await remove(pathOf(siteId))
      await refresh("members")
    } catch (error) {
      toast(`The role couldn't be removed. ${errorText(error as Error)}`)
    }
  }
  return (
    <section class="stack" aria-labelledby={id}>
      <h3 id={id}>Site-specific roles</h3>
      <p class="small quiet">
        {member.role === "guest" ? "Guests only see the sites in this list." : "A role here replaces the organization role on that site."}
      </p>
      <ul>
        {member.site_roles.map((row) => {
          const name = visible(sites.find((one) => one.id === row.site_id)?.name ?? `Site ${row.site_id}`)
          return (
            <li key={row.site_id} class="row spread">
              <span>
                {name}: {roleLabel(row.role).toLowerCase()}
              </span>
              <IconButton icon="close" label={`Remove the role on ${name}`} onClick={() => void removeRole(row.site_id)} />
            </li>
          )
        })}
      </ul>
      {sites.length > 0 && (
        <Form
          label="Site-specific roles"
          submit={async () => {
            await put(pathOf(chosen), { role })
            await refresh("members")
          }}
        >
          {({ busy, errorOf }) => (
            <div class="joined">
              <SelectField
                label="Site"
                value={chosen}
                onValue={setSite}
                options={sites.map(({ id: siteId, name }) => ({ value: String(siteId), label: visible(name) }))}
              />
              <SelectField
                label="Role on this site"
                value={role}
                onValue={setRole}
                options={SITE_ROLES.map((value) => ({ value, label: roleLabel(value) }))}
                error={errorOf("/role")}
              />
              <Button type="submit" busy={busy}>
                Assign role
              </Button>
            </div>
          )}
        </Form>
      )}
    </section>
  )
}

export interface Exceptions {
  grants: readonly string[]
  denies: readonly string[]
}

interface ExceptionsFieldProps {
  role: Role
  /** Permissions of the user who edits the member. Only these can be granted or denied. */
  held: readonly string[]
  value: Exceptions
  onValue(value: Exceptions): void
}

/** Grants or denies single permissions in addition to the role. */
function ExceptionsField({ role, held, value, onValue }: ExceptionsFieldProps) {
  const id = useId()
  const { grants, denies } = value
  return (
    <section class="stack" aria-labelledby={id}>
      <h3 id={id}>Exceptions</h3>
      {grants.length + denies.length === 0 && <p class="small quiet">No exceptions. The role's permissions apply.</p>}
      <ul>
        {grants.map((name) => (
          <ExceptionRow
            key={name}
            text={`Can also ${permissionText(name)}`}
            onRemove={() => onValue({ grants: without(grants, name), denies })}
          />
        ))}
        {denies.map((name) => (
          <ExceptionRow
            key={name}
            text={`Can't ${permissionText(name)}`}
            onRemove={() => onValue({ grants, denies: without(denies, name) })}
          />
        ))}
      </ul>
      <AddException
        options={offered(role, held, value)}
        onAdd={(kind, name) => onValue(kind === "grant" ? { grants: [...grants, name], denies } : { grants, denies: [...denies, name] })}
      />
    </section>
  )
}

const without = (names: readonly string[], name: string): string[] => names.filter((one) => one !== name)

const ExceptionRow = ({ text, onRemove }: { text: string; onRemove(): void }) => (
  <li class="row spread">
    <span>{text}</span>
    <IconButton icon="close" label={`Remove exception: ${text}`} onClick={onRemove} />
  </li>
)

type Kind = "grant" | "deny"

/** Returns the exceptions that make a difference: grants the role lacks and denials of permissions it has. */
function offered(role: Role, held: readonly string[], { grants, denies }: Exceptions): { value: string; label: string }[] {
  const open = held.filter((name) => !grants.includes(name) && !denies.includes(name))
  const grantable = open.filter((name) => permissionsOfRole(role, name) !== true)
  const deniable = open.filter((name) => permissionsOfRole(role, name) !== false)
  return [
    ...grantable.map((name) => ({ value: `grant ${name}`, label: `Can also ${permissionText(name)}` })),
    ...deniable.map((name) => ({ value: `deny ${name}`, label: `Can't ${permissionText(name)}` })),
  ]
}

function AddException({ options, onAdd }: { options: { value: string; label: string }[]; onAdd(kind: Kind, name: string): void }) {
  const [chosen, setChosen] = useState("")
  if (options.length === 0) return null
  const selected = options.find(({ value }) => value === chosen) ?? options[0]
  return (
    <div class="joined">
      <SelectField label="Exception" value={selected?.value ?? ""} onValue={setChosen} options={options} />
      <Button
        onClick={() => {
          const [kind, name] = (selected?.value ?? "").split(" ")
          if (name) onAdd(kind as Kind, name)
        }}
      >
        Add exception
      </Button>
    </div>
  )
}
