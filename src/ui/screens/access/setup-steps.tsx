import { useRef, useState } from "preact/hooks"
import { timeText } from "../../format.ts"
import { Button } from "../../parts/button.tsx"
import { CurrencyField } from "../../parts/currency-field.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { NewPassword } from "../../parts/new-password.tsx"
import { ZoneField } from "../../parts/zone-field.tsx"

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

/** Why the token is asked for once more: it was right and is no longer, or the page has forgotten it. */
export type TokenAgain = "expired" | "reloaded"

const AGAIN: Readonly<Record<TokenAgain, string>> = {
  expired: "The token has expired meanwhile. Enter the latest one of the console; what you typed is kept.",
  reloaded: "The page was loaded anew. Enter the token once more; what you typed is kept, but for the password.",
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
    <Form submit={onDone} label="Token">
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Token from the console"
            note={`Footfall has printed it where it was started.${expiresAt ? ` The present one is good until ${timeText(expiresAt)}.` : ""}`}
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
  // After a reload the password alone is missing.
  const [isPasswordFirst] = useState(admin.name !== "" && admin.password === "")
  return (
    <Form submit={onDone} label="The first admin">
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
            label="E-mail"
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
            note="It owns the sites; more people can be invited to it."
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
  /** Without a site it is skipped. */
  onDone(withSite: boolean): Promise<void>
  onBack(): void
}

export function SiteStep({ site, onSite, onDone, onBack }: SiteStepProps) {
  // Which button was pressed is known before anything is rendered anew.
  const isSkipped = useRef(false)
  const change = (field: keyof FirstSite) => (value: string) => onSite({ ...site, [field]: value })
  return (
    <Form submit={() => onDone(!isSkipped.current)} label="The first site">
      {({ busy, errorOf }) => (
        <>
          <TextField label="Name" value={site.name} onValue={change("name")} error={errorOf("/site/name")} autocomplete="off" autofocus />
          <TextField
            label="Host"
            note="As in the address bar: example.com, or *.example.com with all its subdomains."
            inputMode="url"
            value={site.host}
            onValue={change("host")}
            error={errorOf("/site/hosts/0")}
            autocomplete="off"
          />
          <ZoneField
            value={site.timezone}
            onValue={change("timezone")}
            error={errorOf("/site/timezone")}
            note="Days begin at its midnight."
          />
          <CurrencyField
            value={site.currency}
            onValue={change("currency")}
            error={errorOf("/site/revenue_currency")}
            note="In which revenue is shown."
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
              Finish
            </Button>
            <Button
              type="submit"
              busy={busy}
              onClick={() => {
                isSkipped.current = true
              }}
            >
              Skip the site
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
      Go on
    </Button>
  </div>
)
