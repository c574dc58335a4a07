import { useRef, useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { CurrencyField, ZoneField } from "../../parts/form/locale-fields.tsx"
import { NewPassword } from "../../parts/form/new-password.tsx"
import { timeText } from "../../text/format.ts"

export interface Admin {
  name: string
  email: string
  password: string
  organization: string
}

export interface FirstSite {
  name: string
  host: string
  timezone: string
  currency: string
}

/** Reason for asking for the token again: it has expired, or a reload of the page lost it. */
export type TokenAgain = "expired" | "reloaded"

const AGAIN: Readonly<Record<TokenAgain, string>> = {
  expired: "That token has expired. Paste the newest one from the terminal. Your entries are kept.",
  reloaded: "The page was reloaded. Paste the token again and re-enter your password; everything else is kept.",
}

interface TokenStepProps {
  token: string
  onToken(token: string): void
  expiresAt: string | undefined
  again: TokenAgain | undefined
  onDone(): Promise<void>
}

export const TokenStep = ({ token, onToken, expiresAt, again, onDone }: TokenStepProps) => (
  <>
    {again && (
      <div class="notice" data-kind={again === "expired" ? "warn" : undefined} role={again === "expired" ? "alert" : "status"}>
        {AGAIN[again]}
      </div>
    )}
    <Form submit={onDone} label="Continue setup">
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Setup token"
            note={`Printed in the terminal where you started Footfall.${expiresAt ? ` Valid until ${timeText(expiresAt)}.` : ""}`}
            error={errorOf("/token")}
            value={token}
            onValue={(text) => onToken(text.trim())}
            autocomplete="off"
            autofocus
            code
          />
          <GoOn busy={busy} />
        </>
      )}
    </Form>
  </>
)

export function AdminStep({ admin, onAdmin, onDone }: { admin: Admin; onAdmin(admin: Admin): void; onDone(): Promise<void> }) {
  const change = (field: keyof Admin) => (value: string) => onAdmin({ ...admin, [field]: value })
  // After a reload only the password is missing.
  const [isPasswordFirst] = useState(admin.name !== "" && admin.password === "")
  return (
    <Form submit={onDone} label="Create your account">
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Your name"
            autocomplete="name"
            value={admin.name}
            onValue={change("name")}
            error={errorOf("/name")}
            autofocus={!isPasswordFirst}
          />
          <TextField
            label="Email"
            type="email"
            autocomplete="username"
            value={admin.email}
            onValue={change("email")}
            error={errorOf("/email")}
          />
          <NewPassword
            value={admin.password}
            onValue={change("password")}
            email={admin.email}
            error={errorOf("/password")}
            autofocus={isPasswordFirst}
          />
          <TextField
            label="Organization"
            note="Your sites belong to it. You can invite others later."
            autocomplete="organization"
            value={admin.organization}
            onValue={change("organization")}
            error={errorOf("/organization")}
          />
          <GoOn busy={busy} />
        </>
      )}
    </Form>
  )
}

interface SiteStepProps {
  site: FirstSite
  onSite(site: FirstSite): void
  /** Completes setup. `withSite` is false if the user skipped this step. */
  onDone(withSite: boolean): Promise<void>
  onBack(): void
}

export function SiteStep({ site, onSite, onDone, onBack }: SiteStepProps) {
  // A ref, because the submit handler runs before the next render.
  const isSkipped = useRef(false)
  const change = (field: keyof FirstSite) => (value: string) => onSite({ ...site, [field]: value })
  return (
    <Form submit={() => onDone(!isSkipped.current)} label="Add your first site">
      {({ busy, errorOf }) => (
        <>
          <TextField label="Name" value={site.name} onValue={change("name")} error={errorOf("/site/name")} autocomplete="off" autofocus />
          <TextField
            label="Domain"
            note="The domain visitors see, such as example.com. Use *.example.com to include subdomains."
            inputMode="url"
            value={site.host}
            onValue={change("host")}
            error={errorOf("/site/hosts/0")}
            autocomplete="off"
          />
          <ZoneField value={site.timezone} onValue={change("timezone")} error={errorOf("/site/timezone")} />
          <CurrencyField
            value={site.currency}
            onValue={change("currency")}
            error={errorOf("/site/revenue_currency")}
            note="Revenue is shown in this currency."
          />
          <div class="row">
            <Button
              kind="primary"
              type="submit"
              busy={busy}
              onClick={() => {
                isSkipped.current = false
              }}
            >
              Finish setup
            </Button>
            <Button
              type="submit"
              busy={busy}
              onClick={() => {
                isSkipped.current = true
              }}
            >
              Skip for now
            </Button>
            <Button kind="quiet" onClick={onBack} disabled={busy}>
              Back
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

const GoOn = ({ busy }: { busy: boolean }) => (
  <div class="row">
    <Button kind="primary" type="submit" busy={busy}>
      Continue
    </Button>
  </div>
)
