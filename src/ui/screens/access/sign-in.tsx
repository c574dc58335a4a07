import { useState } from "preact/hooks"
import { Link, Redirect, useLocation, useSearch } from "wouter"
import { post } from "../../api.ts"
import { boot } from "../../boot.ts"
import { Button } from "../../parts/button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { type FactorWanted, PasskeyForm, type SignedIn } from "../../sign-in/factor-form.tsx"
import { canUsePasskeys } from "../../sign-in/passkey.ts"
import { providerAddress, refusalWords, useWaysIn } from "../../sign-in/ways-in.ts"
import { AccessPage, InsecureNotice } from "./access-page.tsx"
import { nextPage, withNext } from "./next-page.ts"
import { keepPendingFactor } from "./pending-factor.ts"

/** By password, passkey or identity provider. Afterwards the page is loaded anew, with all that is known of whoever came in. */
export default function SignIn() {
  const search = useSearch()
  const asked = new URLSearchParams(search)
  if (asked.has("proved")) return <Proved refusal={refusalWords(asked.get("reauth_error"))} />
  if (boot.me && !asked.has("error")) return <Redirect to={nextPage(search)} replace />
  return (
    <AccessPage title="Sign in">
      <InsecureNotice />
      <Notices asked={asked} />
      <WaysIn search={search} />
    </AccessPage>
  )
}

function Notices({ asked }: { asked: URLSearchParams }) {
  const refusal = refusalWords(asked.get("error"))
  return (
    <>
      {refusal && (
        <div class="notice" data-kind="bad" role="alert">
          {refusal}
        </div>
      )}
      {asked.has("changed") && (
        <div class="notice" role="status">
          The password was changed. Sign in with the new one.
        </div>
      )}
    </>
  )
}

function WaysIn({ search }: { search: string }) {
  const [, navigate] = useLocation()
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  // Asked when the field is left: an address may belong to an organization with a provider of its own.
  const [whole, setWhole] = useState("")
  const next = nextPage(search)
  const enter = () => location.assign(next)
  const providers = useWaysIn(whole).data?.data ?? []
  const byPassword = async () => {
    setWhole(email.trim())
    const answer = await post<SignedIn | FactorWanted>("/api/private/auth/login", { email: email.trim(), password }, { isSignIn: true })
    if (!("mfa_required" in answer)) return enter()
    keepPendingFactor(answer)
    navigate(withNext("/signin/second-factor", search))
  }
  return (
    <>
      <Form submit={byPassword} label="Sign in by password">
        {({ busy, errorOf }) => (
          <>
            <div onFocusOut={() => setWhole(email.includes("@") ? email.trim() : "")}>
              <TextField
                label="E-mail"
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
              <Link href="/forgot">Forgotten password</Link>
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
                Sign in by {name}
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Where the window of an identity provider ends that the proof dialog has opened. */
const Proved = ({ refusal }: { refusal: string | undefined }) => (
  <AccessPage title={refusal ? "Not confirmed" : "Confirmed"}>
    <p>{refusal ?? "It is confirmed that it is you."} Close this window and go on where you were.</p>
  </AccessPage>
)
