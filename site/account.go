package site

import (
	"crypto/subtle"
	"net/http"
)

const (
	sessionCookie = "session"
	demoUser      = "demo" // name and password; the login page shows both
)

func (a *app) signedIn(r *http.Request) bool {
	cookie, err := r.Cookie(sessionCookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(a.session)) == 1
}

func (a *app) login(w http.ResponseWriter, r *http.Request) {
	if a.signedIn(r) {
		http.Redirect(w, r, "/account", http.StatusSeeOther)
		return
	}
	a.showLogin(w, r, http.StatusOK, "", "")
}

func (a *app) showLogin(w http.ResponseWriter, r *http.Request, status int, user, problem string) {
	a.render(w, r, status, "login.html", view{Title: "Log in", Data: map[string]string{"User": user, "Problem": problem}})
}

func (a *app) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	user, password := r.PostFormValue("username"), r.PostFormValue("password")
	if user != demoUser || password != demoUser {
		a.showLogin(w, r, http.StatusUnauthorized, user, "The user name or the password is wrong.")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: a.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	http.Redirect(w, r, "/account", http.StatusSeeOther)
}

func (a *app) signOut(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func (a *app) account(w http.ResponseWriter, r *http.Request) {
	if !a.signedIn(r) {
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	}
	a.render(w, r, http.StatusOK, "account.html", view{Title: "Your account", Data: map[string]any{
		"Orders": sampleOrders[:5],
	}})
}
