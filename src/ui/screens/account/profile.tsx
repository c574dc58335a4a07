import { useState } from "preact/hooks"
import { post, remove } from "../../api.ts"
import type { Me } from "../../boot.ts"
import { useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { SelectField, TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { visible } from "../../safe-text.ts"
import { useWaysIn } from "../../sign-in/ways-in.ts"
import { toast } from "../../toasts.ts"
import { localeOptions } from "./locales.ts"
import { Part } from "./section.tsx"
import { useSaveProfile } from "./use-profile.ts"

/** Name, address, formats, and the ways out. */
export const Profile = ({ me }: { me: Me }) => (
  <>
    <NameAndFormats me={me} />
    <Address me={me} />
    <Organizations me={me} />
    <Leaving me={me} />
  </>
)

const TIME_FORMATS = [
  { value: "", label: "As the language has it" },
  { value: "24h", label: "24 hours: 17:30" },
  { value: "12h", label: "12 hours: 5:30 pm" },
]

function NameAndFormats({ me }: { me: Me }) {
  const save = useSaveProfile(me)
  const [name, setName] = useState(me.user.name)
  const [locale, setLocale] = useState(me.user.locale ?? "")
  const [timeFormat, setTimeFormat] = useState(me.user.time_format ?? "")
  const submit = async () => {
    await save({ name, locale: locale || null, time_format: timeFormat || null })
    // Formats are read when the page is loaded.
    const isShownOtherwise = locale !== (me.user.locale ?? "") || timeFormat !== (me.user.time_format ?? "")
    if (isShownOtherwise) location.reload()
    else toast("Saved")
  }
  return (
    <Part title="Profile">
      <Form submit={submit} label="Profile">
        {({ busy, errorOf }) => (
          <>
            <TextField label="Name" autocomplete="name" value={name} onValue={setName} error={errorOf("/name")} />
            <SelectField
              label="Numbers and dates"
              note="How they are written; the words stay English."
              value={locale}
              onValue={setLocale}
              options={localeOptions(me.user.locale)}
              error={errorOf("/locale")}
            />
            <SelectField
              label="Time of day"
              value={timeFormat}
              onValue={setTimeFormat}
              options={TIME_FORMATS}
              error={errorOf("/time_format")}
            />
            <div class="row">
              <Button kind="primary" type="submit" busy={busy}>
                Save
              </Button>
            </div>
          </>
        )}
      </Form>
    </Part>
  )
}

function Address({ me: { user } }: { me: Me }) {
  const { data } = useWaysIn()
  const [email, setEmail] = useState("")
  const [askedFor, setAskedFor] = useState<string>()
  const ask = async (wanted: string) => {
    await post("/api/private/me/email", { email: wanted })
    setAskedFor(wanted)
    setEmail("")
  }
  return (
    <Part title="E-mail">
      <p>
        {user.email} <span class="quiet">{user.email_verified ? "confirmed" : "not confirmed yet"}</span>
      </p>
      {askedFor !== undefined && (
        <div class="notice" role="status">
          A mail to {askedFor} has a link to confirm it. Until then the address stays as it is.
        </div>
      )}
      {data && !data.mail && <p class="quiet">This instance sends no mail, so an address cannot be confirmed or changed here.</p>}
      {data?.mail && (
        <>
          {!user.email_verified && (
            <Form submit={() => ask(user.email)} label="Confirm the address">
              {({ busy }) => (
                <div class="row">
                  <Button type="submit" busy={busy}>
                    Confirm this address
                  </Button>
                </div>
              )}
            </Form>
          )}
          <Form submit={() => ask(email.trim())} label="Change the address">
            {({ busy, errorOf }) => (
              <>
                <TextField
                  label="New e-mail"
                  type="email"
                  autocomplete="email"
                  value={email}
                  onValue={setEmail}
                  error={errorOf("/email")}
                  note="It changes once the new address is confirmed. The present one is told, and can take it back for 72 hours."
                />
                <div class="row">
                  <Button type="submit" busy={busy} disabled={email.trim() === ""}>
                    Change e-mail
                  </Button>
                </div>
              </>
            )}
          </Form>
        </>
      )}
    </Part>
  )
}

function Organizations({ me }: { me: Me }) {
  const refresh = useRefreshMe()
  const [leaving, setLeaving] = useState<Me["organizations"][number]>()
  return (
    <Part title="Organizations">
      {me.organizations.length === 0 && <p class="quiet">You are a member of none. Ask somebody to invite you.</p>}
      <ul class="stack">
        {me.organizations.map((organization) => (
          <li key={organization.id} class="row spread">
            <span>
              {visible(organization.name)} <span class="quiet">{organization.role}</span>
            </span>
            <Button kind="danger" onClick={() => setLeaving(organization)}>
              Leave
            </Button>
          </li>
        ))}
      </ul>
      {leaving && (
        <Confirm
          title={`Leave ${visible(leaving.name)}`}
          act="Leave"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await post("/api/private/me/leave", { organization_id: leaving.id })
            await refresh()
          }}
        >
          <p>You lose sight of its sites, and API keys that belong to you there stop working. Only an invitation brings you back.</p>
        </Confirm>
      )}
    </Part>
  )
}

function Leaving({ me: { user } }: { me: Me }) {
  const [isAsking, setAsking] = useState(false)
  return (
    <Part title="Delete the account">
      <p class="quiet">What you made for others stays with them; what is yours alone is deleted.</p>
      <div class="row">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Delete my account
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title="Delete your account"
          act="Delete my account"
          name={user.email}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await remove("/api/private/me")
            location.assign("/signin")
          }}
        >
          <p>Your memberships end, private dashboards are deleted, and everybody who is signed in with this account is signed out.</p>
        </Confirm>
      )}
    </Part>
  )
}
