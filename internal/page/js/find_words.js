// The words that find knows: what interfaces call the same thing, in English, German, French, Spanish, Portuguese and Italian.
// They are written without accents, as wordsOf makes them. A phrase also matches written as one word (firstname).

// One meaning a line.
const SAME_MEANING = `
search|find|look up|lookup|magnifier|magnifying glass|query|q|suche|suchen|finden|recherche|rechercher|chercher|buscar|busca|busqueda|pesquisar|pesquisa|procurar|cerca|cercare|ricerca
cart|shopping cart|basket|bag|shopping bag|trolley|warenkorb|einkaufswagen|panier|carrito|cesta|carrinho|sacola|carrello
add to cart|add to basket|add to bag|add to trolley|buy|buy now|purchase|in den warenkorb|kaufen|ajouter au panier|acheter|anadir al carrito|agregar al carrito|comprar|adicionar ao carrinho|aggiungi al carrello|acquista
checkout|check out|place order|proceed to checkout|pay|pay now|payment|zur kasse|kasse|bezahlen|bestellen|paiement|payer|commander|pagar|finalizar compra|pago|pagamento|paga
sign in|log in|login|signin|log on|logon|signing in|logging in|sign on|anmelden|anmeldung|einloggen|connexion|se connecter|connecter|iniciar sesion|acceder|entrar|accedi|accesso
sign out|log out|logout|signout|log off|abmelden|ausloggen|deconnexion|se deconnecter|cerrar sesion|salir|sair|esci|disconnetti
sign up|register|registration|create account|create an account|new account|join|join now|signup|get started|registrieren|registrierung|konto erstellen|inscription|inscrire|s inscrire|creer un compte|registrarse|registro|crear cuenta|cadastro|cadastrar|criar conta|registrati|iscriviti|crea account
submit|send|submits|confirm|go|ok|done|absenden|abschicken|senden|envoyer|valider|soumettre|enviar|confirmar|invia|conferma
save|store|apply|update|keep|speichern|sichern|ubernehmen|enregistrer|sauvegarder|guardar|salvar|salva
next|continue|proceed|forward|go on|weiter|fortfahren|suivant|continuer|siguiente|continuar|proximo|seguinte|avancar|avanti|continua|successivo
previous|back|prev|go back|return|zuruck|vorherige|precedent|retour|anterior|volver|atras|voltar|indietro|precedente
close|dismiss|x|cancel|hide|exit|not now|no thanks|schliessen|abbrechen|fermer|annuler|cerrar|cancelar|fechar|chiudi|annulla
accept|agree|allow|consent|accept all|i agree|got it|akzeptieren|zustimmen|einverstanden|accepter|aceptar|aceitar|accetta
reject|decline|deny|refuse|disagree|ablehnen|refuser|rechazar|recusar|rifiuta
menu|hamburger|hamburger menu|burger|navigation|nav|main menu|more options|menue|navegacion|navegacao
settings|preferences|options|gear|cog|configuration|config|einstellungen|parametres|reglages|preferences|ajustes|configuracion|preferencias|configuracoes|impostazioni|preferenze
delete|remove|trash|bin|discard|erase|trash can|garbage|loschen|entfernen|supprimer|effacer|eliminar|borrar|quitar|excluir|remover|apagar|elimina|rimuovi
edit|pencil|modify|change|rename|bearbeiten|andern|modifier|editer|editar|modificar|cambiar|alterar|modifica
add|plus|new|create|insert|hinzufugen|neu|erstellen|ajouter|nouveau|creer|anadir|agregar|nuevo|crear|adicionar|novo|criar|aggiungi|nuovo|crea
new|choose|create|set|desired|confirm|neu|neues|nouveau|nuevo|nueva|nuovo|novo|nova
current|existing|old|present|aktuelles|actuel|actual|atual|attuale
profile|account|avatar|my account|user menu|konto|mein konto|profil|compte|mon compte|perfil|cuenta|mi cuenta|conta|minha conta|profilo|il mio account
phone|mobile|telephone|tel|cell|cellphone|phone number|telephone number|mobile number|mobile phone|cell phone|contact number|telefon|telefonnummer|handy|handynummer|mobilnummer|telephone|numero de telephone|portable|telefono|movil|celular|telefone|telemovel|cellulare|numero di telefono
zip|postal|postcode|zip code|postal code|post code|postleitzahl|plz|code postal|codigo postal|cep|cap|codice postale
first name|given name|forename|fname|first|name first|vorname|prenom|nombre|primer nombre|primeiro nome|nome
last name|surname|family name|lname|last|name last|second name|nachname|familienname|nom|nom de famille|apellido|apellidos|sobrenome|apelido|ultimo nome|cognome
middle name|middle initial|mname|additional name|zweiter vorname|deuxieme prenom|segundo nombre|nome do meio|secondo nome
full name|name|your name|fullname|complete name|contact name|vollstandiger name|vor und nachname|nom complet|nombre completo|nombre y apellidos|nome completo|nome e cognome
email|e mail|mail|email address|e mail address|electronic mail|emailadresse|e mail adresse|mailadresse|adresse email|adresse e mail|courriel|correo|correo electronico|direccion de correo|endereco de email|indirizzo email|posta elettronica
password|passcode|pass|passwd|pwd|pass word|passwort|kennwort|mot de passe|mdp|contrasena|clave|senha|palavra passe
username|user name|user id|userid|login name|loginname|login id|user|account name|handle|nickname|screen name|benutzername|nutzername|benutzerkennung|nom d utilisateur|identifiant|pseudo|usuario|nombre de usuario|nome de usuario|utilizador|nome utente|utente
address|street|street address|address line 1|address line1|address 1|address1|addr1|line 1|street 1|street name|adresse|strasse|strasse und hausnummer|anschrift|rue|voie|direccion|calle|domicilio|endereco|rua|morada|logradouro|indirizzo|via
address line 2|address line2|address 2|address2|addr2|line 2|street 2|apartment|apt|suite|unit|floor|building|apartment suite|adresszusatz|complement|complement d adresse|appartement|piso|departamento|complemento|interno|scala
city|town|locality|suburb|municipality|address level2|stadt|ort|wohnort|ville|commune|localite|ciudad|poblacion|localidad|cidade|localidade|citta|comune|localita
state|province|region|county|prefecture|state province|address level1|bundesland|kanton|region|departement|provincia|estado|comunidad autonoma|provincia|regione
country|nation|country code|country name|land|staat|pais|paese|nazione
company|organization|organisation|employer|business name|company name|firma|unternehmen|societe|entreprise|empresa|compania|azienda|societa
card|credit card|debit card|cc|payment card|kreditkarte|karte|carte|carte bancaire|carte de credit|tarjeta|tarjeta de credito|cartao|cartao de credito|carta|carta di credito
card number|credit card number|debit card number|cc number|ccnum|cc num|cardnumber|cardno|card no|account number|pan|kartennummer|kreditkartennummer|numero de carte|numero de tarjeta|numero do cartao|numero della carta|numero carta
security code|cvc|cvv|cvv2|cvc2|csc|cid|card security code|card verification|card verification code|verification value|card code|cc csc|prufziffer|sicherheitscode|kartenprufnummer|cryptogramme|code de securite|codigo de seguridad|codigo de seguranca|codice di sicurezza
expiration|expiry|exp|expires|expire|expiration date|expiry date|exp date|valid until|valid thru|good thru|cc exp|mm yy|mm yyyy|gultig bis|ablaufdatum|gultigkeit|date d expiration|expire le|vencimiento|caducidad|fecha de vencimiento|fecha de caducidad|validade|vencimento|data de validade|scadenza|data di scadenza
name on card|cardholder|cardholder name|card holder|card holder name|card name|cc name|ccname|holder name|name on the card|karteninhaber|titulaire|titulaire de la carte|nom sur la carte|titular|nombre del titular|titular da tarjeta|titular do cartao|nome no cartao|titolare|intestatario|titolare della carta
one time code|verification code|otp|2fa|mfa|totp|one time password|one time verification code|authentication code|auth code|confirmation code|sms code|security code|authenticator|two factor|pin code|6 digit code|passcode|token|bestatigungscode|einmalcode|code de verification|codigo de verificacion|codigo de verificacao|codice di verifica
birth|birthday|birthdate|date of birth|birth date|dob|bday|born|geburtstag|geburtsdatum|naissance|date de naissance|nacimiento|fecha de nacimiento|nascimento|data de nascimento|nascita|data di nascita
day|dd|jour|dia|giorno
month|mm|mon|monat|mois|mes|mese
year|yyyy|yy|jahr|annee|ano|anno
date|when|calendar|datum|kalender|calendrier|fecha|calendario|data
time|hour|clock|uhrzeit|zeit|heure|hora|ora
from|origin|departure|depart|leaving from|von|abflug|depart|de|origen|salida|origem|partida|partenza
to|destination|arrival|going to|nach|ziel|arrivee|destino|llegada|chegada|arrivo|destinazione
check in|arrival date|checkin|start date|anreise|arrivee|entrada|llegada|chegada|arrivo
check out date|departure date|checkout date|end date|abreise|depart|salida|saida|partenza
guests|travellers|travelers|passengers|persons|people|adults|personen|gaste|voyageurs|personnes|huespedes|personas|hospedes|pessoas|ospiti|persone
quantity|qty|amount|number of items|count|menge|anzahl|quantite|cantidad|quantidade|quantita
price|cost|total|sum|fee|preis|gesamt|summe|prix|total|precio|preco|prezzo|totale
coupon|promo code|discount code|voucher|promotion code|gift code|gutschein|gutscheincode|rabattcode|code promo|bon de reduction|cupon|codigo promocional|cupom|codice sconto|codice promozionale
shipping|delivery|ship to|versand|lieferung|livraison|envio|entrega|spedizione|consegna
billing|invoice|bill|rechnung|facturation|facture|facturacion|factura|cobranca|fatura|fatturazione|fattura
order|orders|purchases|my orders|bestellung|bestellungen|commande|commandes|pedido|pedidos|ordine|ordini|encomenda
wishlist|wish list|favorites|favourites|favorite|favourite|save for later|heart|bookmark|merkliste|wunschliste|merken|favoris|liste de souhaits|favoritos|lista de deseos|lista de desejos|preferiti|lista dei desideri
like|thumbs up|upvote|love|gefallt mir|j aime|me gusta|curtir|gostar|mi piace
share|forward to|teilen|partager|compartir|compartilhar|partilhar|condividi
comment|reply|respond|answer|kommentar|kommentieren|antworten|commentaire|commenter|repondre|comentario|comentar|responder|commento|commenta|rispondi
message|chat|contact|contact us|inbox|mail us|text|nachricht|kontakt|message|contacter|mensaje|contacto|mensagem|contato|messaggio|contatti
compose|write|new message|new email|write message|draft|verfassen|neue nachricht|rediger|nouveau message|redactar|escrever|nova mensagem|scrivi|nuovo messaggio
help|support|faq|question mark|customer service|assistance|hilfe|kundendienst|aide|assistance|ayuda|soporte|ajuda|suporte|aiuto|assistenza
home|homepage|home page|start page|main page|startseite|accueil|inicio|pagina inicial|pagina principale
download|export|save file|herunterladen|telecharger|descargar|baixar|transferir|scarica
upload|attach|attachment|import|choose file|browse|add file|paperclip|hochladen|anhangen|datei|televerser|joindre|fichier|subir|adjuntar|archivo|carregar|anexar|arquivo|carica|allega
print|printer|drucken|imprimer|imprimir|stampa
copy|duplicate|clone|kopieren|copier|copiar|copia
filter|refine|funnel|narrow|filtern|filtrer|filtrar|filtra
sort|sort by|order by|arrange|sortieren|sortierung|trier|ordenar|clasificar|ordina
refresh|reload|sync|aktualisieren|neu laden|actualiser|rafraichir|actualizar|recargar|atualizar|recarregar|aggiorna|ricarica
play|start|resume|watch|abspielen|starten|lire|lecture|reproducir|iniciar|reproduzir|riproduci|avvia
pause|stop|halt|anhalten|arreter|detener|parar|ferma|pausa
mute|volume|sound|speaker|stumm|ton|lautstarke|muet|son|silenciar|sonido|volumen|som|muto|audio
fullscreen|full screen|maximize|expand|enlarge|vollbild|plein ecran|pantalla completa|tela cheia|schermo intero
more|show more|load more|see more|see all|view all|read more|show all|ellipsis|three dots|kebab|overflow|mehr|mehr anzeigen|alle anzeigen|plus|voir plus|afficher plus|tout voir|mas|ver mas|ver todo|mais|ver mais|ver tudo|altro|mostra altro|vedi tutti
details|info|information|about|learn more|more info|angaben|informationen|uber|en savoir plus|informacion|detalles|acerca de|detalhes|informacoes|sobre|dettagli|informazioni
notifications|notification|bell|alerts|benachrichtigungen|mitteilungen|notificaciones|notificacoes|notifiche
language|locale|globe|lang|sprache|langue|idioma|lingua
currency|money|wahrung|devise|monnaie|moneda|moeda|valuta
theme|dark mode|light mode|appearance|night mode|dunkelmodus|design|mode sombre|tema|modo oscuro|modo escuro|aspetto
remember me|keep me signed in|stay signed in|stay logged in|remember|angemeldet bleiben|eingeloggt bleiben|se souvenir de moi|rester connecte|recordarme|mantener sesion|lembrar de mim|manter conectado|ricordami|resta connesso
forgot password|reset password|forgotten password|lost password|recover password|password reset|passwort vergessen|mot de passe oublie|olvide mi contrasena|olvidaste tu contrasena|esqueci a senha|esqueceu a senha|password dimenticata
show password|reveal password|toggle password|eye|passwort anzeigen|afficher le mot de passe|mostrar contrasena|mostrar senha|mostra password
terms|terms of service|terms and conditions|conditions|tos|agb|nutzungsbedingungen|conditions generales|cgu|terminos|condiciones|termos|condicoes|termini|condizioni
privacy|privacy policy|data protection|datenschutz|confidentialite|privacidad|privacidade|riservatezza
newsletter|subscribe|subscription|mailing list|abonnieren|abonner|abonnement|suscribirse|suscripcion|boletin|assinar|inscrever|iscrizione|iscriversi
gender|sex|geschlecht|sexe|genre|genero|sexo|genere|sesso
title|salutation|honorific|prefix|anrede|civilite|tratamiento|titulo|titolo
age|years old|alter|edad|idade|eta
website|url|web site|homepage url|web address|webseite|site web|sitio web|sito web
subject|topic|betreff|thema|sujet|objet|asunto|tema|assunto|oggetto|argomento
description|notes|note|remarks|about you|beschreibung|notizen|bemerkung|remarques|descripcion|notas|observaciones|descricao|observacoes|descrizione|note
increase|plus|up|increment|raise|erhohen|augmenter|aumentar|aumenta
decrease|minus|down|decrement|lower|verringern|diminuer|disminuir|diminuir|diminuisci
undo|revert|ruckgangig|annuler l action|deshacer|desfazer|annulla azione
reset|clear|clear all|start over|zurucksetzen|leeren|reinitialiser|vider|restablecer|limpiar|redefinir|limpar|ripristina|cancella
map|location|place|pin|where|karte|standort|lieu|emplacement|mapa|ubicacion|localizacao|mappa|posizione
book|reserve|booking|reservation|buchen|reservieren|reserver|reservar|reserva|prenota|prenotazione
`;

// What a query says about the kind of element, and the roles that are meant.
const FIELDS = 'textbox searchbox spinbutton combobox colorpicker slider listbox';
const ROLE_WORDS = `
button|btn|knopf|schaltflache|taste|bouton|boton|botao|pulsante|bottone = button menuitem switch link
field|input|box|textbox|text box|text field|input field|input box|text area|textarea|editor|feld|eingabefeld|textfeld|champ|zone de texte|saisie|campo|casella di testo|caixa de texto = ${FIELDS}
checkbox|check box|tick box|tickbox|kontrollkastchen|hakchen|case a cocher|casilla|caixa de selecao|casella = checkbox switch menuitemcheckbox
radio|radio button|option button|optionsfeld|bouton radio|opcion = radio menuitemradio
dropdown|drop down|select|selector|select box|picker|combobox|combo box|list box|listbox|drop down list|dropdown list|dropdown menu|auswahlliste|auswahl|auswahlfeld|liste deroulante|menu deroulant|selecteur|desplegable|lista desplegable|selector|lista suspensa|menu a tendina = combobox listbox spinbutton button
link|hyperlink|verweis|lien|enlace|vinculo|collegamento = link
icon|symbol|icone|icono|icona = button link image
image|picture|photo|logo|thumbnail|illustration|bild|foto|imagen|imagem|immagine = image img
heading|header|headline|section title|uberschrift|titre|encabezado|titolo|cabecalho = heading columnheader rowheader
tab|reiter|registerkarte|onglet|pestana|aba|scheda = tab
menu|menue = menu menubar menuitem button combobox
menu item|menu entry|menuepunkt|menu option = menuitem menuitemcheckbox menuitemradio option
row|table row|line|zeile|ligne|fila|linha|riga = row listitem
cell|table cell|zelle|cellule|celda|celula|cella = cell gridcell
slider|range|schieberegler|regler|curseur|deslizador|controle deslizante|cursore = slider
switch|toggle|toggle switch|schalter|interrupteur|interruptor|interruttore = switch checkbox button
dialog|popup|pop up|modal|window|dialogfenster|fenetre|dialogo|janela|finestra = dialog alertdialog
table|grid|tabelle|tableau|tabla|tabela|tabella = table grid treegrid
option|choice|auswahlmoglichkeit = option radio menuitemradio
list item|listenpunkt|element de liste = listitem option
paragraph|text|absatz|paragraphe|parrafo|paragrafo = paragraph status alert generic
`;

// Words that carry no meaning of their own in a query or a label.
const NO_MEANING = 'a an the of for to in on at with that which where do does i my your our please is are this it its and by as me can should '
  + 'enter entering type typing click press tap fill put write required optional here labeled labelled called named '
  + 'der die das den dem des ein eine einen einer fur zum zur im mit und ist wo wie ich mein meine ihr ihre bitte eingeben klicken '
  + 'le la les un une des du de pour dans avec et est ou je mon ma mes votre vos saisir cliquer entrez '
  + 'el los las una uno unos del para por en con y es mi su sus tu ingrese escriba '
  + 'o os as um uma do da dos das em no na com e meu minha seu sua digite '
  + 'il lo gli i uno di del della per nel con ed mio mia tuo inserisci';
// Words of a query that help where they match and don't count where they miss.
const HELPFUL = 'page site website form item items section area panel main open view see show list my number code text bar control element feature user option';
// What follows these in a query says where the element is.
const PLACE_WORDS = 'in inside within of for from under below above beside near beside im bei von fur dans pour de en para nel del';
const ORDINALS = { first: 1, '1st': 1, second: 2, '2nd': 2, third: 3, '3rd': 3, fourth: 4, '4th': 4, fifth: 5, '5th': 5, last: -1, erste: 1, ersten: 1,
  zweite: 2, zweiten: 2, dritte: 3, letzte: -1, letzten: -1, premier: 1, premiere: 1, deuxieme: 2, troisieme: 3, dernier: -1, derniere: -1, primero: 1,
  primera: 1, segundo: 2, segunda: 2, tercero: 3, tercera: 3, ultimo: -1, ultima: -1, primeiro: 1, primeira: 1, terceiro: 3, primo: 1, prima: 1, secondo: 2, terzo: 3 };
// What a type or an autocomplete token says in words that labels use.
const TYPE_WORDS = { email: 'email', tel: 'phone', password: 'password', search: 'search', submit: 'submit', image: 'submit', reset: 'reset', file: 'upload', date: 'date',
  'datetime-local': 'date time', time: 'time', month: 'month', url: 'website', color: 'color', checkbox: 'checkbox', radio: 'radio' };
const AUTOCOMPLETE_WORDS = { 'given-name': 'first name', 'family-name': 'last name', 'additional-name': 'middle name', name: 'full name', 'cc-name': 'name on card',
  'cc-given-name': 'name on card', 'cc-number': 'card number', 'cc-csc': 'security code card', 'cc-exp': 'expiration date', 'cc-exp-month': 'expiration month',
  'cc-exp-year': 'expiration year', bday: 'date of birth', 'bday-day': 'day birth', 'bday-month': 'month birth', 'bday-year': 'year birth',
  'street-address': 'street address', 'address-line1': 'address line 1', 'address-line2': 'address line 2', 'address-level1': 'state', 'address-level2': 'city',
  'postal-code': 'postal code', country: 'country', 'country-name': 'country', tel: 'phone', 'tel-national': 'phone', email: 'email', username: 'username',
  'current-password': 'current password login', 'new-password': 'new password', 'one-time-code': 'one time code', organization: 'company', 'honorific-prefix': 'salutation',
  sex: 'gender', url: 'website' };

const stems = perTurn(() => new Map());

// wordsOf splits text into stems; names such as firstName and address-line1 into their parts.
function wordsOf(text) {
  let plain = text;
  if (/[^\x20-\x7e]/.test(plain)) plain = plain.normalize('NFD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss');
  const words = plain.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().match(/[a-z]+|\d+|[\u3040-\u30ff\u3400-\u9fff]|[^\P{L}a-z\u3040-\u30ff\u3400-\u9fff]+/gu) ?? [];
  return words.map(stemOf);
}

function stemOf(word) {
  let stem = stems().get(word);
  if (stem === undefined) {
    stem = cutEnding(word);
    stems().set(word, stem);
  }
  return stem;
}

// cutEnding takes off the endings of number, tense and infinitive that matter between a query and a label.
function cutEnding(word) {
  let stem = word;
  if (stem.length < 4 || /\d/.test(stem)) return stem;
  if (stem.endsWith('ies') && stem.length > 4) stem = stem.slice(0, -3) + 'y';
  else if (stem.endsWith('s') && !/(ss|us|is)$/.test(stem)) stem = stem.slice(0, -1);
  if (stem.length > 5 && /(ing|ar|er|ir|en)$/.test(stem)) stem = stem.replace(/(ing|ar|er|ir|en)$/, '');
  else if (stem.length > 4 && stem.endsWith('ed')) stem = stem.slice(0, -2);
  stem = stem.replace(/([bdgmnprt])\1$/, '$1');
  if (stem.length > 4) stem = stem.replace(/[aeo]$/, '');
  return stem;
}

// vocabulary is all of the above made ready, once per document: each phrase as stems, under its first stem.
let knownPhrases = null;
function vocabulary() {
  if (knownPhrases) return knownPhrases;
  const phrases = new Map(), meanings = [], nothing = new Set(wordsOf(NO_MEANING)), helpful = new Set(wordsOf(HELPFUL));
  const add = (text, sense) => {
    const words = wordsOf(text);
    const known = phrases.get(words[0]) ?? [];
    if (!known.length) phrases.set(words[0], known);
    known.push({ words, ...sense });
  };
  for (const line of SAME_MEANING.trim().split('\n')) {
    const meaning = meanings.push(line.split('|').map(wordsOf)) - 1;
    for (const phrase of line.split('|')) add(phrase, { meaning });
  }
  for (const line of ROLE_WORDS.trim().split('\n')) {
    const [names, roles] = line.split(' = ');
    for (const phrase of names.split('|')) add(phrase, { roles: new Set(roles.split(' ')) });
  }
  knownPhrases = { phrases, meanings, nothing, helpful };
  return knownPhrases;
}
