import { useState } from "preact/hooks"
import { Button, patch, post, useMe } from "#plugin/ui"
import { AskedAct, LinkShown, useAct } from "./act.tsx"
import type { User } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"
import { LookAs } from "./look-as.tsx"
import { RemoveUser } from "./remove-user.tsx"

/** What can be done for a user, and to one. */
export function UserActs({ user }: { user: User }) {
  const refresh = useRefresh()
  const me = useMe()
  const [busy, act] = useAct()
  const [open, setOpen] = useState<"look" | "remove">()
  const [link, setLink] = useState<string>()
  const path = `${ADMIN}/users/${user.id}`
  const after = () => refresh("users", "sessions")
  const own = me?.user.id === user.id
  const resetPassword = () => post<{ link?: string }>(`${path}/reset-password`, undefined).then((made) => setLink(made.link))
  return (
    <div class="row">
      {user.status === "active" && !own && !user.is_instance_admin && <Button onClick={() => setOpen("look")}>Look as this user</Button>}
      <Button busy={busy} onClick={() => void act(resetPassword, `${user.email} can choose a new password`)}>
        Reset password
      </Button>
      {(user.mfa.totp || user.mfa.passkeys > 0) && (
        <AskedAct
          label="Reset second factor"
          title="Reset the second factor"
          act="Remove all second factors"
          onConfirm={() => post(`${path}/reset-mfa`, undefined).then(after)}
        >
          <p>App, passkeys and recovery codes of {user.email} go. They are told by mail.</p>
        </AskedAct>
      )}
      {user.sessions > 0 && !own && (
        <AskedAct
          label="Sign out"
          title="Sign out everywhere"
          act="Sign out"
          onConfirm={() => post(`${path}/sign-out`, undefined).then(after)}
        >
          <p>All sessions of {user.email} end.</p>
        </AskedAct>
      )}
      <AdminFlag user={user} after={after} />
      {user.status === "disabled" ? (
        <Button
          busy={busy}
          onClick={() => void act(() => post(`${path}/enable`, undefined).then(after), `${user.email} may sign in again`)}
        >
          Enable
        </Button>
      ) : (
        <AskedAct
          label="Disable"
          title={`Disable ${user.email}`}
          act="Disable"
          onConfirm={() => post(`${path}/disable`, undefined).then(after)}
        >
          <p>Sessions and personal keys end at once. Memberships stay, and enabling brings the user back.</p>
        </AskedAct>
      )}
      <Button kind="danger" onClick={() => setOpen("remove")}>
        Delete
      </Button>
      {open === "look" && <LookAs user={user} onClose={() => setOpen(undefined)} />}
      {open === "remove" && <RemoveUser user={user} onClose={() => setOpen(undefined)} />}
      {link !== undefined && (
        <LinkShown title="A new password" link={link} onClose={() => setLink(undefined)}>
          <p>Hand this link to {user.email}: it works for an hour and once. It is shown this once.</p>
        </LinkShown>
      )}
    </div>
  )
}

function AdminFlag({ user, after }: { user: User; after(): Promise<void> }) {
  const isAdmin = user.is_instance_admin
  return (
    <AskedAct
      label={isAdmin ? "Revoke admin" : "Make instance admin"}
      kind={isAdmin ? "danger" : "plain"}
      title={isAdmin ? "No longer an instance admin" : "Make an instance admin"}
      act={isAdmin ? "Revoke" : "Make instance admin"}
      onConfirm={() => patch(`${ADMIN}/users/${user.id}`, { is_instance_admin: !isAdmin, version: user.version }).then(after)}
    >
      <p>
        {isAdmin
          ? `${user.email} keeps memberships and loses this console. The last instance admin cannot be taken away.`
          : `${user.email} will run the instance: this console, and everybody in it.`}
      </p>
    </AskedAct>
  )
}
