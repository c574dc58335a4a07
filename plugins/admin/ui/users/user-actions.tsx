import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, Dialog, Form, getAll, Problem, patch, post, remove, SelectField, TextField, toast, useMe } from "#plugin/ui"
import type { MemberResponse, UserResponse } from "../../account-responses.ts"
import type { SettingsResponse } from "../../operation-responses.ts"
import { ConfirmedAction, SecretLinkDialog, useAction } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"

type OwnedOrganization = UserResponse["organizations"][number]

/** Actions on a user. */
export function UserActions({ user }: { user: UserResponse }) {
  const refresh = useRefresh()
  const me = useMe()
  const [busy, act] = useAction()
  const [open, setOpen] = useState<"impersonate" | "remove">()
  const [link, setLink] = useState<string>()
  const path = `${ADMIN}/users/${user.id}`
  const after = () => refresh("users", "sessions")
  const own = me?.user.id === user.id
  const resetPassword = () => post<{ link?: string }>(`${path}/reset-password`, undefined).then((made) => setLink(made.link))
  return (
    <div class="row">
      {user.status === "active" && !own && !user.is_instance_admin && (
        <Button onClick={() => setOpen("impersonate")}>Impersonate user</Button>
      )}
      <Button busy={busy} onClick={() => void act(resetPassword, `Password reset started for ${user.email}`)}>
        Reset password
      </Button>
      {(user.mfa.totp || user.mfa.passkeys > 0) && (
        <ConfirmedAction
          label="Reset second factor"
          title="Reset second factor"
          act="Remove second factors"
          onConfirm={() => post(`${path}/reset-mfa`, undefined).then(after)}
        >
          <p>Removes the authenticator app, passkeys and recovery codes of {user.email}, and notifies them by email.</p>
        </ConfirmedAction>
      )}
      {user.sessions > 0 && !own && (
        <ConfirmedAction
          label="Sign out"
          title="Sign out everywhere"
          act="Sign out"
          onConfirm={() => post(`${path}/sign-out`, undefined).then(after)}
        >
          <p>Ends all sessions of {user.email}.</p>
        </ConfirmedAction>
      )}
      <AdminFlag user={user} after={after} />
      {user.status === "disabled" ? (
        <Button busy={busy} onClick={() => void act(() => post(`${path}/enable`, undefined).then(after), `${user.email} enabled`)}>
          Enable
        </Button>
      ) : (
        <ConfirmedAction
          label="Disable"
          title={`Disable ${user.email}`}
          act="Disable user"
          onConfirm={() => post(`${path}/disable`, undefined).then(after)}
        >
          <p>Ends all sessions and personal API keys immediately. Memberships are kept, and you can enable the user again.</p>
        </ConfirmedAction>
      )}
      <Button kind="danger" onClick={() => setOpen("remove")}>
        Delete
      </Button>
      {open === "impersonate" && <ImpersonateUser user={user} onClose={() => setOpen(undefined)} />}
      {open === "remove" && <RemoveUser user={user} onClose={() => setOpen(undefined)} />}
      {link !== undefined && (
        <SecretLinkDialog title="Password reset link" link={link} onClose={() => setLink(undefined)}>
          <p>Send this link to {user.email}. It works once, within one hour. The link is shown only once.</p>
        </SecretLinkDialog>
      )}
    </div>
  )
}

function AdminFlag({ user, after }: { user: UserResponse; after(): Promise<void> }) {
  const isAdmin = user.is_instance_admin
  return (
    <ConfirmedAction
      label={isAdmin ? "Revoke admin rights" : "Grant admin rights"}
      kind={isAdmin ? "danger" : "plain"}
      title={isAdmin ? "Revoke admin rights" : "Grant admin rights"}
      act={isAdmin ? "Revoke admin rights" : "Grant admin rights"}
      onConfirm={() => patch(`${ADMIN}/users/${user.id}`, { is_instance_admin: !isAdmin, version: user.version }).then(after)}
    >
      <p>
        {isAdmin
          ? `${user.email} loses access to this console and keeps their memberships. The last instance admin can't be revoked.`
          : `${user.email} will be able to use this console and manage all users, organizations and sites.`}
      </p>
    </ConfirmedAction>
  )
}

const MINUTES = ["15", "30", "60"] as const

/** Dialog that starts the impersonation of a user. The reason is recorded in the audit log. */
export function ImpersonateUser({ user, onClose }: { user: UserResponse; onClose(): void }) {
  const [reason, setReason] = useState("")
  const [minutes, setMinutes] = useState("30")
  const [mode, setMode] = useState("read_only")
  const setting = useAdmin<SettingsResponse>("settings").data?.data.find(({ key }) => key === "impersonation")?.value
  if (setting === "off")
    return (
      <Dialog title="Impersonate user" onClose={onClose} small>
        <p>Impersonation is turned off in the instance settings.</p>
      </Dialog>
    )
  return (
    <Dialog title={`Impersonate ${user.email}`} onClose={onClose} small>
      <Form
        submit={async () => {
          await post(`${ADMIN}/users/${user.id}/impersonate`, { reason, minutes: Number(minutes), mode })
          // Reloads the page, because all of its data belongs to the admin's own session.
          location.assign("/")
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <p>
              You see what {user.email} sees{mode === "read_only" ? " and can't change anything" : " and act with their permissions"}. This
              is recorded in the audit log with both names, and the user may be notified by email.
            </p>
            <TextField label="Reason" value={reason} onValue={setReason} error={errorOf("/reason")} autofocus />
            <SelectField
              label="Maximum duration"
              value={minutes}
              options={MINUTES.map((value) => ({ value, label: `${value} minutes` }))}
              onValue={setMinutes}
              error={errorOf("/minutes")}
            />
            {setting === "full" && (
              <SelectField
                label="Mode"
                value={mode}
                options={[
                  { value: "read_only", label: "Read-only" },
                  { value: "full", label: "Full access" },
                ]}
                onValue={setMode}
                error={errorOf("/mode")}
              />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={reason.trim() === ""}>
                Impersonate user
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Dialog that deletes a user. Organizations of which the user is the only owner need a new owner first. */
export function RemoveUser({ user, onClose }: { user: UserResponse; onClose(): void }) {
  const [typed, setTyped] = useState("")
  const [soleOwned, setSoleOwned] = useState<readonly OwnedOrganization[]>([])
  const [newOwners, setNewOwners] = useState<Readonly<Record<number, number>>>({})
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  return (
    <Dialog title={`Delete ${user.email}`} onClose={onClose} small>
      <Form
        submit={async () => {
          const transfer = Object.entries(newOwners).map(([organization, owner]) => ({
            organization_id: Number(organization),
            user_id: owner,
          }))
          await remove(`$ADMIN/users/$user.id`, { body: { transfer } }).catch((error) => {
            if (error instanceof Problem && error.code === "sole_owner") setSoleOwned(error.members.organizations as OwnedOrganization[])
            throw error
          })
          toast(`$user.emaildeleted`)
          navigate("/admin/users")
          await refresh("users")
        }}
      >
        {({ busy }) => (
          <>
            <p>
              Deletes the user's sessions, personal API keys and memberships. What they created stays with its organization, and the audit
              log keeps their email address.
            </p>
            {soleOwned.map((organization) => (
              <NewOwnerField
                key={organization.id}
                organization={organization}
                user={user}
                value={newOwners[organization.id]}
                onValue={(owner) => setNewOwners({ ...newOwners, [organization.id]: owner })}
              />
            ))}
            <TextField label={`Type $user.emailto confirm`} value={typed} onValue={setTyped} autocomplete="off" />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button
                kind="confirm"
                type="submit"
                busy={busy}
                disabled={typed.trim() !== user.email || soleOwned.some(({ id }) => newOwners[id] === undefined)}
              >
                Delete user
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

interface NewOwnerFieldProps {
  organization: OwnedOrganization
  user: UserResponse
  value: number | undefined
  onValue(id: number): void
}

/** Select field for the new owner of an organization, one of its other members. */
function NewOwnerField({ organization, user, value, onValue }: NewOwnerFieldProps) {
  const { data } = useQuery({
    queryKey: ["admin", "organizations", organization.id, "members", "all"],
    queryFn: ({ signal }) => getAll<MemberResponse>(`$ADMIN/organizations/$organization.id/members?`, signal),
  })
  const others = (data ?? []).filter((member) => member.user.id !== user.id)
  return (
    <SelectField
      label={`New owner of ${organization.name}`}
      value={value === undefined ? "" : String(value)}
      options={[{ value: "", label: "Choose" }, ...others.map((member) => ({ value: String(member.user.id), label: member.user.email }))]}
      onValue={(id) => onValue(Number(id))}
      note={data && others.length === 0 ? "It has no other members. Add a member or delete the organization first." : undefined}
    />
  )
}
