import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, Dialog, Form, getAll, Problem, remove, SelectField, TextField, toast } from "#plugin/ui"
import type { Member, Named, User } from "./answers.ts"
import { useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"

/** Deletes a user; whatever they own alone goes to somebody else first. */
export function RemoveUser({ user, onClose }: { user: User; onClose(): void }) {
  const [typed, setTyped] = useState("")
  const [alone, setAlone] = useState<readonly Named[]>([])
  const [heirs, setHeirs] = useState<Readonly<Record<number, number>>>({})
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  return (
    <Dialog title={`Delete ${user.email}`} onClose={onClose} small>
      <Form
        submit={async () => {
          const transfer = Object.entries(heirs).map(([organization, heir]) => ({ organization_id: Number(organization), user_id: heir }))
          await remove(`${ADMIN}/users/${user.id}`, { body: { transfer } }).catch((error) => {
            if (error instanceof Problem && error.code === "sole_owner") setAlone(error.members.organizations as Named[])
            throw error
          })
          toast(`${user.email} is deleted`)
          navigate("/admin/users")
          await refresh("users")
        }}
      >
        {({ busy }) => (
          <>
            <p>Sessions, keys and memberships go. What they made stays with its organization, and the audit keeps the e-mail.</p>
            {alone.map((organization) => (
              <HeirField
                key={organization.id}
                organization={organization}
                user={user}
                value={heirs[organization.id]}
                onValue={(heir) => setHeirs({ ...heirs, [organization.id]: heir })}
              />
            ))}
            <TextField label={`Type ${user.email} to go on`} value={typed} onValue={setTyped} autocomplete="off" />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button
                kind="confirm"
                type="submit"
                busy={busy}
                disabled={typed.trim() !== user.email || alone.some(({ id }) => heirs[id] === undefined)}
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

interface HeirFieldProps {
  organization: Named
  user: User
  value: number | undefined
  onValue(id: number): void
}

/** Who owns an organization from then on: one of its other members. */
function HeirField({ organization, user, value, onValue }: HeirFieldProps) {
  const { data } = useQuery({
    queryKey: ["admin", "organizations", organization.id, "members", "all"],
    queryFn: ({ signal }) => getAll<Member>(`${ADMIN}/organizations/${organization.id}/members?`, signal),
  })
  const others = (data ?? []).filter((member) => member.user.id !== user.id)
  return (
    <SelectField
      label={`New owner of ${organization.name}`}
      value={value === undefined ? "" : String(value)}
      options={[{ value: "", label: "Choose" }, ...others.map((member) => ({ value: String(member.user.id), label: member.user.email }))]}
      onValue={(id) => onValue(Number(id))}
      note={data && others.length === 0 ? "Nobody else belongs to it: add a member, or delete the organization first." : undefined}
    />
  )
}
