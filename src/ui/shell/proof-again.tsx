import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { post, send } from "../api/api.ts"
import type { Me } from "../api/session.ts"
import { Button } from "../parts/button.tsx"
import { TextField } from "../parts/form/fields.tsx"
import { Form } from "../parts/form/form.tsx"
import { askPasskey, canUsePasskeys } from "../sign-in/passkey.ts"
import { useSignInMethods } from "../sign-in/ways-in.ts"
import { PasswordForm } from "./password-form.tsx"
import { ProviderLink, SESSION_PATH, type SessionNow } from "./provider-link.tsx"

/** Confirms the user's identity by password, authenticator app, passkey or the identity provider of the session, depending on what the account has. */
export function ProofAgain({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const { data: session } = useQuery({
    queryKey: ["session-now"],
    queryFn: ({ signal }) => send<SessionNow>(SESSION_PATH, { signal, isSignIn: true }),
  })
  const names = useSignInMethods(user.email).data?.data ?? []
  const provider = session?.provider
  const prove = async (proof: object) => {
    await post("/api/private/auth/reauth", proof, { isSignIn: true })
    onDone()
  }
  return (
    <>
      <PasswordForm email={user.email} act="Confirm" onPassword={(password) => prove({ password })} />
      {user.mfa.totp && <CodeForm onCode={(code) => prove({ code })} />}
      {user.mfa.passkeys > 0 && canUsePasskeys() && (
        <Form submit={async () => prove(await askPasskey())} label="Passkey">
          {({ busy }) => (
            <div class="row">
              <Button icon="key" type="submit" busy={busy}>
                Confirm with a passkey
              </Button>
            </div>
          )}
        </Form>
      )}
      {provider !== undefined && (
        <ProviderLink
          provider={names.find(({ id }) => id === provider) ?? { id: provider, name: provider }}
          asked={{ reauth: "true" }}
          isDone={({ reauth_until }) => reauth_until !== undefined}
          onDone={onDone}
        />
      )}
    </>
  )
}

function CodeForm({ onCode }: { onCode(code: string): Promise<void> }) {
  const [code, setCode] = useState("")
  return (
    <Form submit={() => onCode(code.replace(/\s/g, ""))} label="Code from the app">
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Code from your authenticator app"
            inputMode="numeric"
            autocomplete="one-time-code"
            value={code}
            onValue={setCode}
            error={errorOf("/code")}
            code
          />
          <div class="row">
            <Button type="submit" busy={busy}>
              Confirm with code
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
