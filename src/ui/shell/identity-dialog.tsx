import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "preact/hooks"
import type { SessionResponse } from "../../domain/account.ts"
import type { FactorAcceptedResponse, FactorRequiredResponse } from "../../domain/sign-in.ts"
import { type IdentityRequest, identityRequest, post, send } from "../api/api.ts"
import { type Me, useMe, useRefreshMe } from "../api/session.ts"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { TextField } from "../parts/form/fields.tsx"
import { Form } from "../parts/form/form.tsx"
import { FactorForm, PasskeyForm } from "../sign-in/factor-form.tsx"
import { askPasskey, canUsePasskeys } from "../sign-in/passkey.ts"
import { providerAddress, useSignInMethods } from "../sign-in/sign-in.ts"
import { stopImpersonation } from "./status-bars.tsx"

const TITLES: Readonly<Record<IdentityRequest["reason"], string>> = {
  "signed-out": "Sign in again",
  proof: "Confirm it's you",
  provider: "Sign in with your identity provider",
}

const CANCELLED = "Nothing was changed, because you did not confirm your identity."

/** Asks the user to sign in again or to confirm their identity, in a dialog over the page so that its input is kept. */
export function IdentityDialog() {
  const request = identityRequest.use()
  if (!request) return null
  return (
    <Dialog title={TITLES[request.reason]} onClose={() => request.cancel(CANCELLED)} small>
      <IdentityForms request={request} />
    </Dialog>
  )
}

function IdentityForms({ request: { reason, done, cancel } }: { request: IdentityRequest }) {
  const me = useMe()
  // Without a signed-in user there is no one to ask.
  useEffect(() => {
    if (!me) cancel(CANCELLED)
  }, [me])
  if (!me) return null
  if (reason === "proof")
    return (
      <div class="stack">
        <p class="quiet">This is a sensitive action. Your confirmation stays valid for ten minutes.</p>
        <ConfirmIdentity me={me} onDone={done} />
      </div>
    )
  if (reason === "provider")
    return (
      <div class="stack">
        <p class="quiet">Your organization requires single sign-on. Your input is kept.</p>
        <SignInByProvider me={me} onDone={done} />
      </div>
    )
  return (
    <div class="stack">
      <p class="quiet">You've been signed out. Sign in again to continue; your input is kept.</p>
      {me.impersonation ? <ImpersonationEnded /> : <SignInAgain me={me} onDone={done} />}
    </div>
  )
}

/** Offers the way back to the admin's own session after the impersonated one has ended. */
const ImpersonationEnded = () => (
  <Button kind="primary" onClick={() => void stopImpersonation()}>
    Return to your own session
  </Button>
)

/** Confirms the user's identity by password, authenticator app, passkey or the identity provider of the session, depending on what the account has. */
function ConfirmIdentity({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const { data: session } = useQuery({
    queryKey: ["session-now"],
    queryFn: ({ signal }) => send<SessionResponse>(SESSION_PATH, { signal, isSignIn: true }),
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
          parameters={{ reauth: "true" }}
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

/** Offers every sign-in method of the account without leaving the page. */
function SignInAgain({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const [wanted, setWanted] = useState<FactorRequiredResponse>()
  const providers = useSignInMethods(user.email).data?.data ?? []
  // A passkey may belong to another user. Then the page is loaded again for that user.
  const entered = (signedIn: FactorAcceptedResponse) => (signedIn.user.id === user.id ? onDone() : location.assign("/"))
  if (wanted) return <FactorForm wanted={wanted} onDone={entered} />
  const byPassword = async (password: string) => {
    const answer = await post<FactorAcceptedResponse | FactorRequiredResponse>(
      "/api/private/auth/login",
      { email: user.email, password },
      { isSignIn: true },
    )
    if ("mfa_required" in answer) setWanted(answer)
    else entered(answer)
  }
  return (
    <>
      <PasswordForm email={user.email} act="Sign in" onPassword={byPassword} />
      {user.mfa.passkeys > 0 && canUsePasskeys() && <PasskeyForm onDone={entered} />}
      {providers.map((provider) => (
        <ProviderLink key={provider.id} provider={provider} parameters={{}} isDone={() => true} onDone={entered} />
      ))}
    </>
  )
}

/** Offers single sign-on only. The session that is open until then doesn't satisfy the organization's policy. */
function SignInByProvider({ me: { user }, onDone }: { me: Me; onDone(): void }) {
  const ways = useSignInMethods(user.email).data
  const refreshMe = useRefreshMe()
  // Permissions are read again, because the new session may do more.
  const entered = async (session: SessionResponse) => {
    if (session.user.id !== user.id) return location.assign("/")
    await refreshMe()
    onDone()
  }
  if (ways?.data.length === 0) return <p>No identity provider is set up for {user.email}. Ask an owner of the organization to add one.</p>
  return (
    <>
      {ways?.data.map((provider) => (
        <ProviderLink
          key={provider.id}
          provider={provider}
          parameters={{}}
          isDone={(session) => session.provider === provider.id}
          onDone={(session) => void entered(session)}
        />
      ))}
    </>
  )
}

interface PasswordFormProps {
  email: string
  /** Label of the button. */
  act: string
  onPassword(password: string): Promise<void>
}

/** Asks for the password of a known email address. */
function PasswordForm({ email, act, onPassword }: PasswordFormProps) {
  const [password, setPassword] = useState("")
  return (
    <Form submit={() => onPassword(password)} label={act}>
      {({ busy, errorOf }) => (
        <>
          <TextField label="Email" value={email} onValue={() => {}} readOnly autocomplete="username" />
          <TextField
            label="Password"
            type="password"
            value={password}
            onValue={setPassword}
            error={errorOf("/password")}
            autocomplete="current-password"
            autofocus
          />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              {act}
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

const SESSION_PATH = "/api/private/auth/session"

interface ProviderLinkProps {
  provider: { id: string; name: string }
  parameters: Record<string, string>
  isDone(session: SessionResponse): boolean
  onDone(session: SessionResponse): void
}

const POLL_MS = 1_500

/** Opens an identity provider in a new window, so that this page keeps its input, and polls the session for the result. */
function ProviderLink({ provider, parameters, isDone, onDone }: ProviderLinkProps) {
  const [isAway, setAway] = useState(false)
  const { data } = useQuery({
    queryKey: ["session-now", provider.id],
    queryFn: ({ signal }) => send<SessionResponse>(SESSION_PATH, { signal, isSignIn: true }),
    enabled: isAway,
    refetchInterval: POLL_MS,
    refetchIntervalInBackground: true,
  })
  useEffect(() => {
    if (data && isDone(data)) onDone(data)
  }, [data])
  return (
    <div class="stack">
      <a
        class="button"
        href={providerAddress(provider.id, { next: "/signin?proved=true", ...parameters })}
        target="_blank"
        rel="noopener"
        onClick={() => setAway(true)}
      >
        Continue with {provider.name}
      </a>
      {isAway && (
        <p class="small quiet" role="status">
          Waiting for {provider.name}. Return to this window when you're done.
        </p>
      )}
    </div>
  )
}
