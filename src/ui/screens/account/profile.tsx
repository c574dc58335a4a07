import { useState } from "preact/hooks"
import { post, remove } from "../../api/api.ts"
import { type Me, useRefreshMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { SelectField, TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { toast } from "../../parts/toasts.tsx"
import { useSignInMethods } from "../../sign-in/sign-in.ts"
import { visible } from "../../text/safe-text.tsx"
import { localeOptions } from "./preferences.tsx"
import { Part, useSaveProfile } from "./section.tsx"

/** Renders name, formats, email address, organizations and account deletion. */
export const Profile = ({ me }: { me: Me }) => (
  <>
    <NameAndFormats me={me} />
    <Address me={me} />
    <Organizations me={me} />
    <Leaving me={me} />
  </>
)

const TIME_FORMATS = [
  { value: "", label: "Match language" },
  { value: "24h", label: "24 hours: 17:30" },
  { value: "12h", label: "12 hours: 5:30 pm" },
]

function NameAndFormats({ me }: { me: Me }) {
  const save = useSaveProfile(me)
  const [name, setName] = useState(me.user.name)
  const [locale, setLocale] = useState(me.user.locale ?? "")
  const [timeFormat, setTimeFormat] = useState(me.user.time_format ?? "")
  const isShownOtherwise = locale !== (me.user.locale ?? "") || timeFormat !== (me.user.time_format ?? "")
  const submit = async () => {
    await save({ name, locale: locale || null, time_format: timeFormat || null })
    // Formats are applied when the page loads.
    if (isShownOtherwise) location.reload()
    else toast("Profile saved")
  }
  return (
    <Part title="Profile">
      <Form submit={submit} label="Profile">
        {({ busy, errorOf }) => (
          <>
            <TextField label="Name" autocomplete="name" value={name} onValue={setName} error={errorOf("/name")} />
            <SelectField
              label="Numbers and dates"
              note="Format of numbers and dates. The interface stays in English."
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
              <Button kind="primary" type="submit" busy={busy} disabled={!isShownOtherwise && name === me.user.name}>
                Save changes
              </Button>
            </div>
          </>
        )}
      </Form>
    </Part>
  )
}

function Address({ me: { user } }: { me: Me }) {
  const { data } = useSignInMethods()
  const [email, setEmail] = useState("")
  const [askedFor, setAskedFor] = useState<string>()
  const ask = async (wanted: string) => {
    await post("/api/private/me/email", { email: wanted })
    setAskedFor(wanted)
    setEmail("")
  }
  return (
    <Part title="Email">
      <p>
        {user.email} <span class="quiet">{user.email_verified ? "confirmed" : "not confirmed yet"}</span>
      </p>
      {askedFor !== undefined && (
        <div class="notice" role="status">
          We've sent a confirmation link to {askedFor}. Your email address stays the same until you open it.
        </div>
      )}
      {data && !data.mail && <p class="quiet">This instance can't send email, so you can't confirm or change your address here.</p>}
      {data?.mail && (
        <>
          {!user.email_verified && (
            <Form submit={() => ask(user.email)} label="Confirm email address">
              {({ busy }) => (
                <div class="row">
                  <Button type="submit" busy={busy}>
                    Confirm email address
                  </Button>
                </div>
              )}
            </Form>
          )}
          <Form submit={() => ask(email.trim())} label="Change email address">
            {({ busy, errorOf }) => (
              <>
                <TextField
                  label="New email"
                  type="email"
                  autocomplete="email"
                  value={email}
                  onValue={setEmail}
                  error={errorOf("/email")}
                  note="Takes effect once you confirm the new address. We'll notify the current address, which can undo the change for 72 hours."
                />
                <div class="row">
                  <Button type="submit" busy={busy} disabled={email.trim() === ""}>
                    Change email address
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
      {me.organizations.length === 0 && (
        <p class="quiet">You aren't a member of any organization. Ask an organization admin for an invitation.</p>
      )}
      <ul class="stack">
        {me.organizations.map((organization) => (
          <li key={organization.id} class="row spread">
            <span>
              {visible(organization.name)} <span class="quiet">{organization.role}</span>
            </span>
            <Button kind="danger" onClick={() => setLeaving(organization)}>
              Leave organization
            </Button>
          </li>
        ))}
      </ul>
      {leaving && (
        <Confirm
          title={`Leave ${visible(leaving.name)}?`}
          act="Leave organization"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await post("/api/private/me/leave", { organization_id: leaving.id })
            await refresh()
          }}
        >
          <p>You lose access to its sites, and your API keys there stop working. You need a new invitation to rejoin.</p>
        </Confirm>
      )}
    </Part>
  )
}

function Leaving({ me: { user } }: { me: Me }) {
  const [isAsking, setAsking] = useState(false)
  return (
    <Part title="Delete account">
      <p class="quiet">What you shared with others is kept; what only you can see is deleted.</p>
      <div class="row">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Delete account
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title="Delete your account?"
          act="Delete account"
          name={user.email}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await remove("/api/private/me")
            location.assign("/signin")
          }}
        >
          <p>Your memberships end and all sessions are signed out. This can't be undone.</p>
        </Confirm>
      )}
    </Part>
  )
}
