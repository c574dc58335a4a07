import { useState } from "preact/hooks"
import { Link, Redirect, useLocation, useSearch } from "wouter"
import type { FactorAcceptedResponse, FactorRequiredResponse } from "../../../domain/sign-in.ts"
import { post } from "../../api/api.ts"
import { boot } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { PasskeyForm } from "../../sign-in/factor-form.tsx"
import { canUsePasskeys } from "../../sign-in/passkey.ts"
import { nextPage, providerAddress, refusalText, setPendingFactor, useSignInMethods, withNext } from "../../sign-in/sign-in.ts"
import { AccessPage, InsecureNotice } from "./access-page.tsx"

/** Signs a user in by password, passkey or identity provider. Then loads the whole page again, so that the server renders the user's data into it. */
export default function SignIn() {
  const search = useSearch()
  const asked = new URLSearchParams(search)
  if (asked.has("proved")) return <Proved refusal={refusalText(asked.get("reauth_error"))} />
  if (boot.me && !asked.has("error")) return <Redirect to={nextPage(search)} replace />
  return (
    <AccessPage title="Sign in">
      <InsecureNotice />
      <Notices asked={asked} />
      <SignInMethods search={search} />
    </AccessPage>
  )
}

function Notices({ asked }: { asked: URLSearchParams }) {
  const refusal = refusalText(asked.get("error"))
  return (
    <>
      {refusal && (
        <div class="notice" data-kind="bad" role="alert">
          {refusal}
        </div>
      )}
      {asked.has("changed") && (
        <div class="notice" role="status">
          Your password was changed. Sign in with the new one.
        </div>
      )}
    </>
  )
}

function SignInMethods({ search }: { search: string }) {
  const [, navigate] = useLocation()
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  // Set when the field loses focus: the address may belong to an organization with its own identity provider.
  const [whole, setWhole] = useState("")
  const next = nextPage(search)
  const enter = () => location.assign(next)
  const providers = useSignInMethods(whole).data?.data ?? []
  const byPassword = async () => {
    setWhole(email.trim())
    const answer = await post<FactorAcceptedResponse | FactorRequiredResponse>(
      "/api/private/auth/login",
      { email: email.trim(), password },
      { isSignIn: true },
    )
    if (!("mfa_required" in answer)) return enter()
    setPendingFactor(answer)
    navigate(withNext("/signin/second-factor", search))
  }
  return (
    <>
      <Form submit={byPassword} label="Sign in with a password">
        {({ busy, errorOf }) => (
          <>
            <div onFocusOut={() => setWhole(email.includes("@") ? email.trim() : "")}>
              <TextField
                label="Email"
                type="email"
                autocomplete="username"
                value={email}
                onValue={setEmail}
                error={errorOf("/email")}
                autofocus
              />
            </div>
            <TextField
              label="Password"
              type="password"
              autocomplete="current-password"
              value={password}
              onValue={setPassword}
              error={errorOf("/password")}
            />
            <div class="row spread">
              <Button kind="primary" type="submit" busy={busy}>
                Sign in
              </Button>
              <Link href="/forgot">Forgot password?</Link>
            </div>
          </>
        )}
      </Form>
      {canUsePasskeys() && <PasskeyForm onDone={enter} />}
      {providers.length > 0 && (
        <ul class="stack" aria-label="Identity providers">
          {providers.map(({ id, name }) => (
            <li key={id}>
              <a class="button" href={providerAddress(id, { next })}>
                Sign in with {name}
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Renders the last page of the identity provider's window that the proof dialog opened. */
const Proved = ({ refusal }: { refusal: string | undefined }) => (
  <AccessPage title={refusal ? "Identity not confirmed" : "Identity confirmed"}>
    <p>{refusal ?? "Thanks, your identity is confirmed."} Close this window to continue where you left off.</p>
  </AccessPage>
)
