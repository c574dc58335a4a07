/** Script of the pages for signed-in users and of shared views. */
import { Router } from "./router/router.tsx"
import { start } from "./start.tsx"

start(Router)
