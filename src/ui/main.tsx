/** Script of the pages for signed-in users. */
import { Router } from "./router/router.tsx"
import { start } from "./start.tsx"

start(Router)
