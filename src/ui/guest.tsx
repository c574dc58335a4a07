/** Script of the pages that need no account. It contains nothing of the dashboard, so that the sign-in page stays small. */
import { GuestRouter } from "./router/guest-screens.tsx"
import { start } from "./start.tsx"

start(GuestRouter)
